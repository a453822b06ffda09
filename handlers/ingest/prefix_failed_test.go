package ingest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestPrefixFailed: a blob whose ingest failed for good gets no job again, until it is changed or the task is forced: a
// schedule would add a dead letter with each of its firings.
func TestPrefixFailed(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	const payload = `{"document_set":"docs","prefix":"in/"}`
	b.Put("in/bad.md", "# Bad")
	b.want(b.spread(payload, task.Hints{}), "listed 1 submitted 1 unchanged 0 deletions 0 skipped 0")
	bad := ""
	for id, t := range l.sent {
		c := b.BeginAs(id, t.Type, string(t.Payload), t.Hints)
		if _, err := b.Store.Fail(b.Context(), store.Failure{
			Holder: c.Holder, Reason: "permanent", Error: store.ErrorInfo{Class: "unsupported_format", Message: "no"},
		}); err != nil {
			b.Fatal(err)
		}
		bad = id
		delete(l.sent, id)
	}
	began := func(hours int) {
		handlertest.Query[string](b.Bench, "update jobs set created_at = clock_timestamp() + $2 * interval '1 hour' where id = $1 returning id", bad, hours)
	}
	began(1)
	r := b.spread(payload, task.Hints{})
	if b.want(r, "listed 1 submitted 0 unchanged 0 deletions 0 skipped 0"); r.Failed != 1 || len(l.sent) > 0 {
		t.Errorf("%d failed, submitted %v", r.Failed, l.sent)
	}
	r = b.spread(payload, task.Hints{Force: true})
	if b.want(r, "listed 1 submitted 1 unchanged 0 deletions 0 skipped 0"); r.Failed != 0 {
		t.Errorf("forced: %d failed", r.Failed)
	}
	began(0) // before this change
	b.Put("in/bad.md", "# Better")
	if err := os.Chtimes(filepath.Join(b.Blobs, "in/bad.md"), time.Time{}, time.Now().Add(-time.Hour)); err != nil { // as rsync -a
		t.Fatal(err)
	}
	b.want(b.spread(payload, task.Hints{}), "listed 1 submitted 1 unchanged 0 deletions 0 skipped 0")
}

// TestPrefixExhausted: a blob whose ingest has used up its attempts or its time, or has lost its workers, gets a job again in
// growing intervals.
func TestPrefixExhausted(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"exhausted", "timeout", "worker_lost"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			testPrefixExhausted(t, reason)
		})
	}
}

func testPrefixExhausted(t *testing.T, reason string) {
	b, l := newLine(t)
	const payload = `{"document_set":"docs","prefix":"in/"}`
	b.Put("in/bad.md", "# Bad")
	for n, wait := range []string{"0", "1 hour", "6 hours", "1 day", "4 days", "4 days"} {
		handlertest.Query[int](b.Bench, `with l as (update dead_letters set created_at = created_at - $1::interval + interval '30 minutes'
			returning 1) select count(*) from l`, wait)
		if r := b.spread(payload, task.Hints{}); n > 0 && (r.Failed != 1 || r.Submitted != 0) {
			t.Errorf("%d failures, less than %s ago: %+v", n, wait, r)
		}
		handlertest.Query[int](b.Bench, `with l as (update dead_letters set created_at = created_at - interval '30 minutes'
			returning 1) select count(*) from l`)
		if r := b.spread(payload, task.Hints{}); r.Failed != 0 || n > 0 && r.Submitted != 1 {
			t.Errorf("%d failures, %s ago: %+v", n, wait, r)
		}
		for id, sent := range l.sent {
			c := b.BeginAs(id, sent.Type, string(sent.Payload), sent.Hints)
			if _, err := b.Store.Fail(b.Context(), store.Failure{
				Holder: c.Holder, Reason: reason, Error: store.ErrorInfo{Class: "dependency_unavailable", Message: "no"},
			}); err != nil {
				t.Fatal(err)
			}
			handlertest.Query[string](b.Bench, "update jobs set created_at = clock_timestamp() + interval '1 hour' where id = $1 returning id", id)
			delete(l.sent, id)
		}
	}
}
