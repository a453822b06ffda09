package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// TestNames (I10): a client has the queues of its own names and no others, whoever asks. The receives of acme-tasks would
// have to read past what another client sends there.
func TestNames(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	own := task.QueueNames("acme")
	for _, name := range []string{own.High, own.Normal, own.Low, own.DeadLetter} {
		_, err := open(t, url, "acme", name).Send(t.Context(), "x", queue.SendOptions{})
		must(t, err)
	}
	worker, unbound := as(t, url, "acme"), connect(t, url)
	for _, name := range []string{
		"acme-x-tasks", "acme-tasks-tasks", "acme-tasks-highest", "acme-deadletter", "acme", "acm-tasks", "-tasks", "other-tasks",
		"ACME-tasks", "acme-tasks ", "",
	} {
		for _, fn := range []string{"aw_queue_ensure", "aw_queue_send"} {
			call := "select " + fn + `(jsonb_build_object('client_id', 'acme', 'queue', nullif($1::text, ''), 'text', 'x'))`
			if _, err := worker.Exec(t.Context(), call, name); raised(err) != "AW006" || !strings.Contains(err.Error(), "acme-tasks") {
				t.Errorf("%s %q by the worker: %v", fn, name, err)
			}
			if _, err := unbound.Exec(t.Context(), call, name); raised(err) != "AW006" {
				t.Errorf("%s %q by who may name any client: %v", fn, name, err)
			}
		}
	}
	s := direct(t, url, "mallory")
	defer s.Close()
	if err := s.Queue("acme-tasks").Ensure(t.Context()); !errors.Is(err, queue.ErrSetting) {
		t.Errorf("the worker's client: %v, want a wrong setting", err)
	}
}

// TestNamesOfBefore: a queue whose name is not of its client, from a version that took any, gets no more messages. Those in
// it are not lost.
func TestNamesOfBefore(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := foreign(t, url, "acme", "orders")
	_, err := connect(t, url).Exec(t.Context(), `insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		values ('acme', 'orders', 0, now(), 'of before')`)
	must(t, err)
	if _, err := q.Send(t.Context(), "x", queue.SendOptions{}); !errors.Is(err, queue.ErrSetting) {
		t.Errorf("sent: %v", err)
	}
	n, err := q.Depth(t.Context())
	must(t, err)
	peeked, err := q.Peek(t.Context(), 1)
	must(t, err)
	got, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if n != 1 || len(peeked) != 1 || len(got) != 1 || got[0].Text != "of before" {
		t.Fatalf("depth %d, peeked %v, received %v", n, peeked, got)
	}
	must(t, got[0].Lease.Delete(t.Context()))
}

// TestFilledByAnother (I10): what another tenant has put into a queue of this one's name, by a version that took any, costs
// this one's calls nothing.
func TestFilledByAnother(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	super := connect(t, url)
	_, err := super.Exec(t.Context(), `
		insert into aw_queue_messages (client_id, queue, part, inserted_at, visible_at, receipt, body)
		select 'mallory', 'acme-tasks', n % 3, x, x, case n % 2 when 0 then gen_random_uuid() end, 'x'
		from (select n, now() - interval '1 hour' + n * interval '1 ms' as x from generate_series(1, 20000) n) y;
		analyze aw_queue_messages`)
	must(t, err)
	_, err = q.Send(t.Context(), "acme's", queue.SendOptions{})
	must(t, err)
	conn := as(t, url, "acme")
	for _, call := range []string{"aw_queue_peek", "aw_queue_depth", "aw_queue_receive"} {
		tx, err := conn.Begin(t.Context())
		must(t, err)
		var answer string
		must(t, tx.QueryRow(t.Context(), "select "+call+`('{"client_id": "acme", "queue": "acme-tasks", "n": 1,
			"visibility_ms": 60000}')::text`).Scan(&answer))
		var read int
		must(t, tx.QueryRow(t.Context(), `select sum(seq_tup_read + idx_tup_fetch) from pg_stat_xact_user_tables
			where relname like 'aw\_queue\_messages\__'`).Scan(&read))
		must(t, tx.Rollback(t.Context()))
		if read > 20 || !strings.Contains(answer, "acme's") && answer != `{"depth": 1}` {
			t.Errorf("%s answers %s and reads %d messages", call, answer, read)
		}
	}
}
