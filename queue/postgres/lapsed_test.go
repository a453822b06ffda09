package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// TestDeadWorker: a message whose receiver dies comes back after its visibility, and its former lease is void.
func TestDeadWorker(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	dying := direct(t, url, "acme")
	must(t, dying.Queue("acme-tasks").Ensure(t.Context()))
	_, err := dying.Queue("acme-tasks").Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
	_, err = dying.Queue("acme-tasks").Receive(t.Context(), 1, time.Hour)
	must(t, err)
	must(t, dying.Close())
	_, err = connect(t, url).Exec(t.Context(), "update aw_queue_messages set visible_at = now()") // an hour later
	must(t, err)
	q := open(t, url, "acme", "acme-tasks")
	got, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 1 || got[0].DequeueCount != 2 {
		t.Errorf("got %v", got)
	}
}

// TestGivenBack: what a dead worker held, and what a worker gave back when it stopped, is received before all that wait;
// what was put off is not, and neither is missed by a receiver that has looked at those that wait.
func TestGivenBack(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	conn := connect(t, url)
	receive := func(n int) (got []*queue.Message, texts []string) {
		got, err := q.Receive(t.Context(), n, time.Hour)
		must(t, err)
		for _, m := range got {
			texts = append(texts, m.Text)
		}
		slices.Sort(texts)
		return got, texts
	}
	for _, text := range []string{"dead", "stopped", "postponed", "begun", "1", "2", "3", "4"} {
		_, err := q.Send(t.Context(), text, queue.SendOptions{})
		must(t, err)
	}
	got, _ := receive(5) // and so the next receive begins at "1"
	must(t, got[1].Lease.Release(t.Context(), 0))
	must(t, got[2].Lease.Release(t.Context(), time.Hour))
	must(t, got[3].Lease.(queue.FirstReleaser).ReleaseFirst(t.Context(), time.Hour))
	must(t, got[4].Lease.Delete(t.Context()))
	// An hour later. The others of the queue wait for longer than that.
	_, err := conn.Exec(t.Context(), `update aw_queue_messages set visible_at = now() where visible_at > now()`)
	must(t, err)
	peeked, err := q.Peek(t.Context(), 1)
	must(t, err)
	if len(peeked) != 1 || peeked[0].Text != "stopped" {
		t.Errorf("a look shows %v first", peeked)
	}
	for _, want := range []string{"stopped", "begun dead", "2 3", "4 postponed"} {
		if _, texts := receive(len(strings.Fields(want))); strings.Join(texts, " ") != want {
			t.Errorf("received %q, want %q", texts, want)
		}
	}
}

// TestLateCommit: a message of a transaction that took longer than the receivers look back is not missed.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	first := open(t, url, "acme", "acme-tasks")
	got, err := first.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 0 {
		t.Fatal(got)
	}
	// It was put an hour ago, and committed now.
	_, err = first.Send(t.Context(), "late", queue.SendOptions{})
	must(t, err)
	_, err = connect(t, url).Exec(t.Context(), "update aw_queue_messages set visible_at = now() - interval '1 hour'")
	must(t, err)
	got, err = first.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 0 {
		t.Errorf("the receive began at the front: %v", got)
	}
	other := open(t, url, "acme", "acme-tasks") // as this one does every 30 seconds
	got, err = other.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 1 {
		t.Error("the message is missed for good")
	}
}

// TestStaleWorker: a worker that slept past its leases deletes nothing while another one has the message, and commits
// nothing: the job ends once.
func TestStaleWorker(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	if got := enqueue(t, as(t, url, "acme"), `{"task_id": "a", "task_type": "ingest", "payload": {}}`); got != "a true" {
		t.Fatal(got)
	}
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "acme"})
	must(t, err)
	defer s.Close()
	begin := func(worker string) (*queue.Message, store.Holder) {
		got, err := q.Receive(t.Context(), 1, time.Minute)
		must(t, err)
		decoded, err := task.Decode(got[0].Text, task.Options{ClientID: "acme"})
		must(t, err)
		b, err := s.Begin(t.Context(), store.Begin{Task: message.Record(decoded.Task, 5), Worker: worker, Lease: time.Minute})
		must(t, err)
		return got[0], store.Holder{JobID: "a", Fence: b.Fence}
	}
	stale, staleHolder := begin("stale")
	_, err = connect(t, url).Exec(t.Context(), `update aw_queue_messages set visible_at = now();
		update jobs set lease_expires_at = now()`) // both leases have ended
	must(t, err)
	q = open(t, url, "acme", "acme-tasks") // another worker
	current, holder := begin("current")
	if err := stale.Lease.Delete(t.Context()); !errors.Is(err, queue.ErrLeaseLost) {
		t.Errorf("a stale delete: %v", err)
	}
	if _, err := s.Complete(t.Context(), store.Completion{Holder: staleHolder}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a stale commit: %v", err)
	}
	if depth, err := q.Depth(t.Context()); err != nil || depth != 1 {
		t.Errorf("%d messages, %v", depth, err)
	}
	_, err = s.Complete(t.Context(), store.Completion{Holder: holder})
	must(t, err)
	must(t, current.Lease.Delete(t.Context()))
	var end string
	must(t, connect(t, url).QueryRow(t.Context(), "select status || ' under fence ' || fence from jobs").Scan(&end))
	if end != "succeeded under fence 2" {
		t.Errorf("the job %s", end)
	}
}

// TestCopiesBeyondASearch: a search for copies of dead letters looks at some of a long queue. The next one looks at the
// others first.
func TestCopiesBeyondASearch(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks-deadletter")
	_, err := connect(t, url).Exec(t.Context(), `
		insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select 'acme', 'acme-tasks-deadletter', 0, now() - interval '1 hour' + n * interval '1 ms',
		  jsonb_build_object('id', 'd' || n)::text from generate_series(1, 2100) n`)
	must(t, err)
	for _, want := range []replay.Copies{{Left: 1, Looked: 2016}, {Removed: 1}} {
		got, err := replay.RemoveCopies(t.Context(), q, []string{"d2100"})
		must(t, err)
		if got.Removed != want.Removed || got.Left != want.Left || want.Looked > 0 && got.Looked != want.Looked {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestHeldByID: a request on a lease finds its message by the id, however many are held, although the planner takes the
// index of those that are held for an empty one.
func TestHeldByID(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	super := connect(t, url)
	_, err := super.Exec(t.Context(), `
		insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select 'acme', 'acme-tasks', n % 3, now() - interval '1 hour', 'x' from generate_series(1, 20000) n;
		analyze aw_queue_messages;
		update aw_queue_messages set receipt = id, visible_at = now() + interval '1 hour'
		where id in (select id from aw_queue_messages limit 500)`)
	must(t, err)
	conn := as(t, url, "acme")
	for _, call := range []string{
		`aw_queue_extend(p || '{"visibility_ms": 60000}')`, `aw_queue_release(p || '{"delay_ms": 60000}')`, "aw_queue_delete(p)",
		`aw_queue_delete_all(jsonb_build_object('client_id', 'acme', 'queue', 'acme-tasks', 'messages', jsonb_build_array(p)))`,
	} {
		var id string
		must(t, super.QueryRow(t.Context(), "select id::text from aw_queue_messages where receipt is not null limit 1").Scan(&id))
		tx, err := conn.Begin(t.Context())
		must(t, err)
		var answer string
		must(t, tx.QueryRow(t.Context(), "select "+call+`::text from (select jsonb_build_object('client_id', 'acme',
			'queue', 'acme-tasks', 'id', $1::text, 'receipt', $1) as p) x`, id).Scan(&answer))
		var read int
		must(t, tx.QueryRow(t.Context(), `select sum(idx_tup_fetch) from pg_stat_xact_user_tables
			where relname like 'aw\_queue\_messages\__'`).Scan(&read))
		must(t, tx.Rollback(t.Context()))
		if read > 20 || !strings.Contains(answer, `"held": true`) && answer != `{"deleted": [1]}` {
			t.Errorf("%s answers %s and reads %d messages", call, answer, read)
		}
	}
}

// TestAftermath: after a failed receive what others held is left to them for a while, and what waits is not.
func TestAftermath(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	for _, text := range []string{"held", "waits"} {
		_, err := q.Send(t.Context(), text, queue.SendOptions{})
		must(t, err)
	}
	_, err := q.Receive(t.Context(), 1, time.Hour)
	must(t, err)
	super := connect(t, url)
	_, err = super.Exec(t.Context(), `update aw_queue_messages set visible_at = now() where receipt is not null;
		alter function aw_queue_receive rename to away;
		create function aw_queue_receive(p jsonb) returns jsonb language plpgsql as $$
		begin raise exception 'out of memory' using errcode = '53200'; end $$`)
	must(t, err)
	service := direct(t, url, "acme")
	defer service.Close()
	after := service.Queue("acme-tasks")
	failed := time.Now()
	if _, err := after.Receive(t.Context(), 1, time.Hour); err == nil {
		t.Fatal("it did not fail")
	}
	_, err = super.Exec(t.Context(), "drop function aw_queue_receive; alter function away rename to aw_queue_receive")
	must(t, err)
	got, err := after.Receive(t.Context(), 2, time.Hour)
	must(t, err)
	if time.Since(failed) < 10*time.Second && (len(got) != 1 || got[0].Text != "waits") {
		t.Errorf("received %v, want what waits alone", got)
	}
}
