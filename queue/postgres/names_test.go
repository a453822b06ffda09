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
