package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (w *world) tuning(f handlerFunc) engine.Tuning {
	w.Helper()
	registry, err := handlers.NewRegistry(f)
	if err != nil {
		w.Fatal(err)
	}
	return engine.Tuning{
		Concurrency: w.cfg.Concurrency, PollMin: w.cfg.PollMin, PollMax: w.cfg.PollMax, TaskTimeout: w.cfg.TaskTimeout,
		DrainMax: w.cfg.DrainMax, Handlers: registry,
	}
}

// What is changed while an engine runs is in force for the tasks that begin afterwards, and for the next poll.
func TestRetune(t *testing.T) {
	inWorld(t, func(w *world) {
		var running, most atomic.Int64
		slow := func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			n := running.Add(1)
			defer running.Add(-1)
			most.Store(max(most.Load(), n))
			select {
			case <-time.After(time.Minute):
				return done(ctx, c)
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
		}
		w.cfg.Concurrency, w.cfg.PollMax = 1, 10*time.Minute
		w.start(slow)
		w.settled(time.Hour) // the wait between polls is at its longest
		for _, id := range []string{"a", "b", "c", "d"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		next := w.tuning(slow)
		next.Concurrency = 3
		if err := w.engine.Retune(next); err != nil {
			t.Fatal(err)
		}
		w.settled(10 * time.Second)
		if got := running.Load(); got != 3 {
			t.Errorf("%d tasks run, want 3", got)
		}
		if h := w.engine.Health(); h.Slots != 3 || len(h.Types) != 1 || h.Types[0].Limit != 3 {
			t.Errorf("the health is %+v", h)
		}

		next.Concurrency, next.TaskTimeout, next.PollMax = 1, 30*time.Second, time.Second
		if err := w.engine.Retune(next); err != nil {
			t.Fatal(err)
		}
		w.settled(5 * time.Minute)
		for _, id := range []string{"a", "b", "c"} { // they keep the timeout that they began with
			w.expectState(id, job.Succeeded, 1)
		}
		w.expectState("d", job.Failed, 1)
		if got := w.row("d").Error.Class; got != string(taskerr.Timeout) {
			t.Errorf("d failed with %s", got)
		}
		most.Store(0)
		next = w.tuning(done) // another handler
		if err := w.engine.Retune(next); err != nil {
			t.Fatal(err)
		}
		w.send(w.queues.Normal, message("e", ""))
		w.settled(w.cfg.PollMax)
		w.expectState("e", job.Succeeded, 1)
		if most.Load() != 0 {
			t.Error("the old handler was asked")
		}
	})
}

// What is wrong changes nothing.
func TestRetuneRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(done)
		for _, break_ := range []func(*engine.Tuning){
			func(n *engine.Tuning) { n.Concurrency = 0 },
			func(n *engine.Tuning) { n.PollMax = n.PollMin - 1 },
			func(n *engine.Tuning) { n.TaskTimeout = 0 },
		} {
			next := w.tuning(done)
			break_(&next)
			if err := w.engine.Retune(next); err == nil {
				t.Errorf("%+v was taken", next)
			}
		}
		if h := w.engine.Health(); h.Slots != w.cfg.Concurrency {
			t.Errorf("the health is %+v", h)
		}
	})
}
