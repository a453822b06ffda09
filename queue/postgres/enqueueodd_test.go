package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestEnqueueRefusesOtherTypes: what the worker's decoder refuses without knowing the job is not enqueued: its message
// would become a dead letter, and the job would wait for ever.
func TestEnqueueRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	normal := open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	for _, message := range []string{
		`{"task_id":5,"task_type":"ingest","payload":{}}`, `{"task_id":true,"task_type":"ingest","payload":{}}`,
		`{"task_id":"a","task_type":true,"payload":{}}`,
		`{"specversion":"1.0","task_id":"a","task_type":"ingest","payload":{}}`,
		`{"specversion":"1.0","task_id":"a","task_type":"ingest","payload":{},"data_base64":"e30="}`,
		`{"specversion":"1.0","id":"1","source":"/","type":"t","data":{"specversion":"1.0","job_id":"a","payload":{}}}`,
		`7`, `null`, `"specversion"`, `["specversion"]`,
	} {
		if got := enqueue(t, conn, message); got != "AW006" {
			t.Errorf("%s: %s", message, got)
		}
		_, err := conn.Exec(t.Context(), "select aw_enqueue_all($1::jsonb)", `{"tasks":[`+message+`]}`)
		if got := raised(err); got != "AW006" {
			t.Errorf("%s in a list: %s", message, got)
		}
	}
	got, err := normal.Receive(t.Context(), 9, time.Minute)
	must(t, err)
	for _, m := range got {
		d, err := task.Decode(m.Text, task.Options{ClientID: "acme"})
		t.Errorf("%s was sent: the worker finds the id %q, %v", m.Text, d.Known.TaskID, err)
	}
}

// TestEnqueueRefusesUnstorable: so is what the decoder refuses anywhere in a message, and nothing that it takes.
func TestEnqueueRefusesUnstorable(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for i, c := range []struct {
		payload, more string
		taken         bool
	}{
		{payload: `{"x":` + deep(62) + `}`, taken: true},
		{payload: `{"x":` + deep(63) + `}`},
		{payload: strings.Repeat(`{"x":[`, 32) + "7" + strings.Repeat("]}", 32)},
		{payload: strings.Repeat(`{"x":`, 63) + "7" + strings.Repeat("}", 63), taken: true},
		{payload: strings.Repeat(`{"x":`, 64) + "7" + strings.Repeat("}", 64)},
		{payload: `{}`, more: `,"hints":{"x":` + deep(63) + `}`},
		{payload: `{"x":[1e308,-1.7976931348623157e308,1e-308,0.5]}`, taken: true},
		{payload: `{"x":[1,{"y":1e309}]}`},
		{payload: `{"x":-2e308}`},
		{payload: `{"x":1}`, more: `,"other":1e400`},
		{payload: `{"x":0.` + strings.Repeat("7", 398) + `}`, taken: true},
		{payload: `{"x":0.` + strings.Repeat("7", 399) + `}`},
		{payload: `{"x":"` + strings.Repeat("7", 999) + `"}`, taken: true},
		{payload: `{"claim_check":{"blob":"a"}}`, taken: true},
		{payload: `{}`, more: `,"claim_check":{"blob":"tasks/a.json"}`},
		{payload: `{}`, more: `,"claim_check":null`, taken: true},
	} {
		text := fmt.Sprintf(`{"task_id":"t%d","task_type":"ingest","payload":%s%s}`, i, c.payload, c.more)
		if d, err := task.Decode(text, task.Options{ClientID: "acme"}); (err == nil && d.ClaimCheck == "") != c.taken {
			t.Errorf("%.99s: the worker says %v", text, err)
		}
		for _, call := range []string{`aw_enqueue($1::jsonb)`, `aw_enqueue_all(jsonb_build_object('tasks', jsonb_build_array($1::jsonb)))`} {
			_, err := conn.Exec(t.Context(), "select "+call, text)
			if want := map[bool]string{false: "AW006"}[c.taken]; raised(err) != want {
				t.Errorf("%s of %.99s: %v, want %q", call, text, err, want)
			}
		}
	}
}

// TestEnqueueTimes: a time that the worker's decoder refuses is refused at once, and not when it has come.
func TestEnqueueTimes(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	for _, at := range []string{
		"2030-02-03T04:05:06Z", "2030-02-03T04:05:06.789Z", "2030-02-03T04:05:06+05:45", "2030-02-03T04:05:06", "2030-02-03",
		"2030-02-03 04:05:06+00", "2030-02-30T00:00:00Z", "2030-02-03T24:00:00Z", "2030-02-03T04:05:60Z",
		"2030-02-03T04:05:06+99:00", "2030-02-03T04:05:06 Mars/Base", "tomorrow", "now", "infinity", "-infinity", "epoch",
		"294276-12-31T00:00:00Z", "0000-01-01T00:00:00Z", "",
	} {
		text := fmt.Sprintf(`{"task_id":"t%x","task_type":"ingest","payload":{},"run_at":%q}`, at, at)
		_, decoded := task.Decode(text, task.Options{ClientID: "acme"})
		if at == "" {
			decoded = errors.New("no time")
		}
		got := enqueue(t, conn, text)
		if taken := strings.HasSuffix(got, " true"); taken != (decoded == nil) || !taken && got != "AW006" {
			t.Errorf("%q: %s; the worker says %v", at, got, decoded)
		}
	}
}

// TestEnqueuePriority: of two priorities the hint counts, as for the worker, which would move the message otherwise: out of
// a queue that is served last.
func TestEnqueuePriority(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks-low")
	high := open(t, url, "acme", "acme-tasks-high")
	conn := as(t, url, "acme")
	const message = `{"task_id":%q,"task_type":"ingest","payload":{},"priority":"low","hints":{"priority":"high"}}`
	if got := enqueue(t, conn, fmt.Sprintf(message, "one")); got != "one true" {
		t.Error(got)
	}
	_, err := conn.Exec(t.Context(), "select aw_enqueue_all($1::jsonb)", `{"tasks":[`+fmt.Sprintf(message, "all")+`]}`)
	must(t, err)
	got, err := high.Receive(t.Context(), 9, time.Minute)
	must(t, err)
	var jobs int
	must(t, connect(t, url).QueryRow(t.Context(), "select count(*) from jobs where priority = 'high' and queue = 'acme-tasks-high'").
		Scan(&jobs))
	if len(got) != 2 || jobs != 2 {
		t.Errorf("%d messages and %d jobs of high priority, want 2", len(got), jobs)
	}
}

// TestEnqueueAllNoClient: a key for every tenant names the tenant once, also for a task that is there twice and says null.
func TestEnqueueAllNoClient(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	const one = `{"task_id":"a","client_id":null,"task_type":"ingest","payload":{}}`
	var answer string
	must(t, connect(t, url).QueryRow(t.Context(), "select aw_enqueue_all($1::jsonb)::text",
		`{"client_id":"acme","tasks":[`+one+`,`+one+`]}`).Scan(&answer))
	if want := `[{"job_id": "a", "created": true}, {"job_id": "a", "created": false}]`; answer != want {
		t.Errorf("%s, want %s", answer, want)
	}
}

// TestEnqueueAllInOneOrder: two lists with the same tasks in other orders don't wait for each other, also if they start later.
func TestEnqueueAllInOneOrder(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	list := func(ids ...string) string {
		var tasks []string
		for _, id := range ids {
			tasks = append(tasks,
				fmt.Sprintf(`{"task_id":%q,"task_type":"ingest","payload":{},"run_at":"2099-01-01T00:00:00Z"}`, id))
		}
		return `{"tasks":[` + strings.Join(tasks, ",") + `]}`
	}
	admin := connect(t, url)
	hold, err := connect(t, url).Begin(t.Context()) // the first caller waits in the middle of its list
	must(t, err)
	defer func() { _ = hold.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = hold.Exec(t.Context(), "select set_config('app.client_id', 'acme', true), aw_enqueue_all($1::jsonb)", list("m"))
	must(t, err)
	var done [2]chan error
	for i, ids := range [][]string{{"b", "m", "a"}, {"a", "b"}} {
		conn := as(t, url, "acme")
		done[i] = make(chan error, 1)
		go func() {
			_, err := conn.Exec(t.Context(), "select aw_enqueue_all($1::jsonb)", list(ids...))
			done[i] <- err
		}()
		waiting(t, admin, conn.PgConn().PID())
	}
	must(t, hold.Rollback(t.Context()))
	for i := range done {
		if err := <-done[i]; err != nil {
			t.Errorf("the caller %d: %v", i+1, err)
		}
	}
}

// waiting returns when a session waits for a lock.
func waiting(t *testing.T, conn *pgx.Conn, pid uint32) {
	t.Helper()
	for waits := false; !waits; {
		must(t, conn.QueryRow(t.Context(),
			"select exists (select from pg_locks where pid = $1 and not granted)", pid).Scan(&waits))
	}
}

// TestEnqueueForNobody: the owner may name any client. An id that no worker can have is refused; a task of a client that
// has no queue here is taken with a notice, as its worker may start later, or have its queues elsewhere.
func TestEnqueueForNobody(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	config, err := pgx.ParseConfig(url)
	must(t, err)
	var noticed []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { noticed = append(noticed, n.Message) }
	owner, err := pgx.ConnectConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { _ = owner.Close(context.Background()) })
	const message = `{"task_id":%q,"task_type":"ingest","payload":{},"client_id":%q}`
	for _, client := range []string{"", "No Such", "a--b", "-a", strings.Repeat("a", 29)} {
		if got := enqueue(t, owner, fmt.Sprintf(message, "a", client)); got != "AW006" {
			t.Errorf("client %q: %s", client, got)
		}
	}
	for _, c := range []struct {
		client string
		notice bool
	}{{"acme", false}, {"acme-2", true}} {
		noticed = nil
		if got := enqueue(t, owner, fmt.Sprintf(message, "a", c.client)); got != "a true" {
			t.Errorf("client %s: %s", c.client, got)
		}
		if (len(noticed) > 0) != c.notice || c.notice && !strings.Contains(noticed[0], c.client) {
			t.Errorf("client %s: notices %q", c.client, noticed)
		}
	}
}
