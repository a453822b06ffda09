package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	record "github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// later is a store with a job that waits for its time, as the database finds it.
type later struct {
	store.Jobs
	mu sync.Mutex
	at time.Time
}

func (l *later) Sweep(ctx context.Context, q store.SweepAges, limit int) (store.SweepAnswer, error) {
	l.mu.Lock()
	at := l.at
	l.mu.Unlock()
	if wait := time.Until(at); wait > 0 {
		return store.SweepAnswer{DueIn: wait}, nil
	}
	q.UnsentFor = 0
	return l.Jobs.Sweep(ctx, q, limit)
}

// A job that waits for its time starts then, not at the next round of the sweep: if it was there before the worker, and if
// the worker is told of it.
func TestJobsStartOnTime(t *testing.T) {
	for name, told := range map[string]bool{"found": false, "told": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				l := &later{Jobs: w.store, at: time.Now().Add(100 * time.Second)}
				if told {
					l.at = time.Now().Add(5 * time.Hour)
				}
				w.jobs = l
				d, err := task.Decode(fullMessage, task.Options{ClientID: "acme"})
				if err != nil {
					t.Fatal(err)
				}
				d.Task.Hints.Force = false
				if _, err := w.store.Submit(t.Context(), store.Submission{
					Task: record.Record(d.Task, 3), Queue: w.queues.Low.Name(), Message: fullMessage,
				}); err != nil {
					t.Fatal(err)
				}
				w.start(done)
				if told {
					w.settled(20 * time.Minute)
					at := time.Now().Add(100 * time.Second)
					l.mu.Lock()
					l.at = at
					l.mu.Unlock()
					w.engine.StartsAt(at)
				}
				w.settled(99 * time.Second)
				w.expectState("t1", job.Pending, 0)
				w.settled(15 * time.Second)
				w.expectState("t1", job.Succeeded, 1)
			})
		})
	}
}
