package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestPurge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second := d.fail("a", report), d.fail("b", report)
	third := d.fail("c", report, func(t *task.Task) { t.Type = task.Summarize })
	d.command("dlq", "purge", "--all").want(t, exitUsage, "standard input is not a terminal", "--dry-run")
	d.command("dlq", "purge").want(t, exitUsage, "no dead letters are selected")
	d.command("dlq", "purge", "--type", "ingest", "--dry-run").want(t, exitOK, first, second, "2 would be removed")
	if d.depth(d.Queues.DeadLetter) != 3 {
		t.Error("a dry run removed a copy")
	}
	var r purgeReport
	purged := d.command("dlq", "purge", "--type", "ingest", "--limit", "1", "--yes", "-o", "json")
	if err := json.Unmarshal([]byte(purged.out), &r); err != nil || len(r.Purged) != 1 || r.Purged[0] != first ||
		r.Copies.Removed != 1 {
		t.Errorf("%v: %+v", err, purged)
	}
	d.command("dlq", "purge", second, "--yes", "--rows-only").want(t, exitOK, second, "1 of 1 removed")
	d.command("dlq", "show", second).want(t, exitFailed, "not found")
	if n := d.depth(d.Queues.DeadLetter); n != 2 {
		t.Errorf("%d copies", n)
	}
	d.command("dlq", "purge", "--newer-than", "1h", "--older-than", "30m", "--yes").want(t, exitOK, "0 of 0 removed")
	d.command("dlq", "show", third).want(t, exitOK, "summarize")
	d.command("jobs", "get", "a").want(t, exitOK, "failed") // the jobs stay
}

// unanswered is a queue that can't be read.
type unanswered struct{ queue.Queue }

func (unanswered) Receive(context.Context, int, time.Duration) ([]*queue.Message, error) {
	return nil, fmt.Errorf("receive: %w", queue.ErrDenied)
}

// TestPurgeWithoutItsQueue: rows stay with copies that can't be looked for, and go when the copies are to stay.
func TestPurgeWithoutItsQueue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	letter := d.fail("a", report)
	found, err := d.Store.DeadLetter(t.Context(), letter)
	if err != nil {
		t.Fatal(err)
	}
	purge := func(g purgeFlags) (string, error) {
		var out, errOut bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
		err := p.purge(t.Context(), d.Tenant, g, []store.DeadLetter{found})
		return out.String() + errOut.String(), err
	}
	d.Queues.DeadLetter = unanswered{d.Queues.DeadLetter}
	if out, err := purge(purgeFlags{yes: true}); !errors.Is(err, queue.ErrDenied) ||
		!strings.Contains(out, "0 of 1 removed") || !strings.Contains(out, "1 kept: their copies may be on the queue") {
		t.Errorf("%v: %s", err, out)
	}
	d.command("dlq", "show", letter).want(t, exitOK, letter)
	if out, err := purge(purgeFlags{yes: true, noCopy: true}); err != nil || !strings.Contains(out, "1 of 1 removed") {
		t.Errorf("rows only: %v: %s", err, out)
	}
	d.command("dlq", "show", letter).want(t, exitFailed, "not found")
}

// TestPurgeBehindOthers: the copy of a letter is found behind more messages than one search holds. While somebody else
// holds messages that may be copies, the rows stay.
func TestPurgeBehindOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second := d.fail("a", report), d.fail("b", report)
	d.env = append(d.env, "QUEUE_BACKEND=postgres")
	dead := d.Queues.DeadLetter.Name()
	super, err := pgx.Connect(t.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer super.Close(context.WithoutCancel(t.Context()))
	do := func(sql string, args ...any) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const insert = `insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select $1, $2, 0, now() - interval '1 hour' + n * interval '1 ms', jsonb_build_object('id', $3 || n)::text
		from generate_series(1, $4::int) n`
	do("insert into aw_queues (client_id, name) values ($1, $2)", d.Config.ClientID, dead)
	do(insert, d.Config.ClientID, dead, "other", 4100)
	do(strings.Replace(insert, "$3 || n", "$3::text", 1)+" where n = $4", d.Config.ClientID, dead, first, 5000)
	left := func() (n int) {
		t.Helper()
		err := super.QueryRow(t.Context(), "select count(*) from aw_queue_messages").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	d.command("dlq", "purge", first, "--yes").want(t, exitOK, "1 of 1 removed", "looked at 2016 messages")
	if n := left(); n != 4100 {
		t.Errorf("%d messages are left, want the 4100 others", n)
	}
	do("update aw_queue_messages set visible_at = now() + interval '1 hour', receipt = id where body like '%other4000%'")
	d.command("dlq", "purge", second, "--yes").want(t, exitFailed, "0 of 1 removed",
		"1 kept: their copies may be on the queue", "--rows-only")
	d.command("dlq", "show", second).want(t, exitOK, second)
	do("update aw_queue_messages set visible_at = now(), receipt = null where receipt is not null")
	d.command("dlq", "purge", second, "--yes").want(t, exitOK, "1 of 1 removed", "they were removed before")
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{
		"purge 12\n": true, " purge 12 ": true, "purge 1\n": false, "y\n": false,
		"": false, "\n": false,
	} {
		if err := confirm(strings.NewReader(answer), io.Discard, "12 dead letters go.", "purge 12",
			"nothing was removed"); (err == nil) != ok {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"10/s": 10, "30/m": 0.5, "3600/h": 1, "2.5": 2.5, "x": 0, "10/": 0,
		"/s": 0, "NaN/s": 0, "-1/s": 0, "1/d": 0, "Inf/s": 0,
	} {
		var r rateFlag
		if err := r.Set(text); r.perSecond != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, r.perSecond, err, want)
		}
	}
}
