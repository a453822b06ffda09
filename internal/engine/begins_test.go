package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A begin that the store took and whose answer was lost costs no attempt, and doesn't keep the job waiting for
// the end of its lease.
func TestUnansweredBeginCostsNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		var asked atomic.Int32
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			answer, err := w.store.Begin(ctx, b)
			if asked.Add(1) <= 5 {
				return store.BeginAnswer{}, errDown
			}
			return answer, err
		}
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(45 * time.Second) // less than a lease
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// Another worker gets the message: the attempt is given back by a report of the worker whose begin was not answered,
// also when the store executes the begin only after it has answered such a report.
func TestUnansweredBeginOfAnotherWorker(t *testing.T) {
	for name, delay := range map[string]time.Duration{"executed at once": 0, "executed later": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var asked atomic.Int32
				var mine store.Begin
				w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
					if asked.Add(1) == 1 {
						mine = b
						time.AfterFunc(delay, func() { _, _ = w.store.Begin(context.WithoutCancel(ctx), b) })
					}
					return store.BeginAnswer{}, errDown // the queue gives the message to the other worker
				}
				w.start(done)
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(3 * time.Minute) // the lease has run out
				other := mine
				other.ID, other.Worker, other.Unanswered = "another", "another", nil
				if begun, err := w.store.Begin(t.Context(), other); err != nil || begun.Attempt != 1 ||
					begun.Decision != store.Run {
					t.Errorf("another worker began %+v, %v; want attempt 1", begun, err)
				}
			})
		})
	}
}

// So it does when the store does not answer for longer than the lease.
func TestUnansweredBeginAfterItsLease(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		var asked atomic.Int32
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			switch {
			case asked.Add(1) == 1:
				_, _ = w.store.Begin(ctx, b)
				return store.BeginAnswer{}, errDown
			case time.Since(began) < 10*time.Minute:
				return store.BeginAnswer{}, errDown
			}
			return w.store.Begin(ctx, b)
		}
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(15 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// An attempt that is being made is not given back because another message's begin was not answered.
func TestUnansweredBeginBesideALiveAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		var asked, runs atomic.Int32
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			answer, err := w.store.Begin(ctx, b)
			if n := asked.Add(1); n > 1 && n < 6 {
				return store.BeginAnswer{}, errDown
			}
			return answer, err
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			select {
			case <-time.After(5 * time.Minute):
				return done(ctx, c)
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Second)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(10 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		if runs.Load() != 1 {
			t.Errorf("it ran %d times, want once", runs.Load())
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// A begin that fails for its message alone is no outage of the database: others don't leave jobs to their holders for it.
func TestBadBeginIsNoOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		var away atomic.Int64
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			if b.JobID == "odd" {
				return store.BeginAnswer{}, taskerr.Errorf(taskerr.InternalBug, "the arguments can't be encoded")
			}
			away.Store(int64(b.Away))
			return w.store.Begin(ctx, b)
		}
		w.start(done)
		w.send(w.queues.Normal, message("odd", ""))
		w.settled(30 * time.Second)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(30 * time.Second)
		w.expectState("t1", job.Succeeded, 1)
		if got := time.Duration(away.Load()); got != 0 {
			t.Errorf("t1 was begun after an outage of %v, want none", got)
		}
	})
}
