package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/children"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// forgetful is a store that can't note that a message was sent.
type forgetful struct{ children.Store }

func (forgetful) MarkSent(context.Context, string, string) error { return errDied }

// overtaken is a store after whose lists of children something else happens.
type overtaken struct {
	store.Store
	then func()
}

func (s overtaken) CompareBlobs(ctx context.Context, q store.BlobComparison) ([]store.ComparedBlob, error) {
	all, err := s.Store.CompareBlobs(ctx, q)
	s.then()
	return all, err
}

// beginNext begins the next message of a queue, as the engine does.
func (b *bench) beginNext(q queue.Queue) (store.Holder, store.Decision) {
	b.Helper()
	got, err := q.Receive(b.Context(), 1, time.Hour)
	if err != nil || len(got) != 1 {
		b.Fatalf("%d messages, %v", len(got), err)
	}
	decoded, err := task.Decode(got[0].Text, task.Options{ClientID: "acme"})
	if err != nil {
		b.Fatal(err)
	}
	job := b.Job
	job.Task, job.Force = message.Record(decoded.Task, 3), decoded.Task.Hints.Force
	job.Source = store.Source{Queue: q.Name(), MessageID: got[0].ID, InsertedAt: got[0].InsertedAt}
	if decoded.Origin != (task.Origin{}) {
		job.Source = store.Source(decoded.Origin)
	}
	begun, err := b.Store.Begin(b.Context(), job)
	if err != nil {
		b.Fatal(err)
	}
	return store.Holder{JobID: job.JobID, Fence: begun.Fence}, begun.Decision
}

// TestForcedChildRunsOnce: a job that a forced one submitted is done once (I2) when its message was sent and could not be
// marked, and it begins and ends by that while the next attempt sends it again.
func TestForcedChildRunsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	q := memory.New(memory.Options{}).Queue("acme-tasks-low")
	if err := q.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := children.Submitter{
		Store: forgetful{b.Store}, Bucket: b.Bucket, Queue: func(task.Priority) queue.Queue { return q },
		MaxAttempts: func(task.Type) int { return 3 }, Most: 1000,
	}
	b.rebuild(func(d *ingest.Deps) { d.Children = s })
	b.Put("in/a.md", "# A")
	c := b.Begin(`{"document_set":"docs","prefix":"in/"}`, task.Hints{Force: true})
	if _, err := b.handler.Handle(t.Context(), c); !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	s.Store = b.Store
	b.rebuild(func(d *ingest.Deps) {
		d.Children = s
		d.Sources = overtaken{b.Store, func() {
			h, decision := b.beginNext(q)
			if decision != store.Run {
				t.Fatalf("the first message: %s", decision)
			}
			if _, err := b.Store.Complete(t.Context(), store.Completion{Holder: h, Result: json.RawMessage("{}")}); err != nil {
				t.Fatal(err)
			}
		}}
	})
	if _, err := b.handler.Handle(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, decision := b.beginNext(q); decision != store.Done {
		t.Errorf("the second message: %s", decision)
	}
	if n := handlertest.Query[int](b.Bench, "select series::int from jobs where parent_job_id is not null"); n != 1 {
		t.Errorf("the job has %d series", n)
	}
}
