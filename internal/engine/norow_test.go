package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// TestNoRowInAnOutage: a task that never began has no row while it waits for a service, until it has waited for WAIT_MAX_HOURS;
// from then on its row says that it waits. docs/frontend.md says so.
func TestNoRowInAnOutage(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		w.cfg.WaitMax = 2 * time.Hour
		w.startWith(gated{handlerFunc: done})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(110 * time.Minute)
		if r, there := w.store.Row("t1"); there {
			t.Errorf("it has a row before its wait is over: %+v", r)
		}
		w.settled(30 * time.Minute)
		w.expectState("t1", job.Pending, 0)
		w.settled(time.Hour)
		w.expectState("t1", job.Pending, 0)
		up.Store(true)
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// TestNoRowAtTheLimit: a task that never began has no row while its type is at its limit of running tasks.
func TestNoRowAtTheLimit(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		const long = 3 * time.Hour
		w.cfg.TaskTimeout, w.cfg.WaitMax = 2*long, time.Hour
		w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "long" {
				return work(long, done)(ctx, c)
			}
			return done(ctx, c)
		}})
		w.send(w.queues.Normal, message("long", ""))
		w.settled(time.Minute)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(long - 10*time.Minute)
		if r, there := w.store.Row("t1"); there {
			t.Errorf("it has a row before it begins: %+v", r)
		}
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
	})
}
