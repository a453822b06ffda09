package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// leavesToOther makes the worker, which is not started yet, receive nothing from the queue of normal priority while late
// is set. begin starts another worker, which does.
func (w *world) leavesToOther() (late *atomic.Bool, begin func(change func(other *world)) (stop func())) {
	late = new(atomic.Bool)
	normal := w.queues.Normal
	w.queues.Normal = &failingQueue{normal, func() error {
		if late.Load() {
			return errDown
		}
		return nil
	}, func() {}}
	return late, func(change func(other *world)) (stop func()) {
		late.Store(true)
		other := *w
		other.cfg.Worker, other.queues.Normal = "w2", normal
		change(&other)
		other.start(done)
		return other.shutdown
	}
}

// dead is a store that answers no query of the sweep either.
type dead struct{ outage }

func (d dead) Sweep(ctx context.Context, ages store.SweepAges, limit int) (store.SweepAnswer, error) {
	if err := d.err(); err != nil {
		return store.SweepAnswer{}, err
	}
	return d.Jobs.Sweep(ctx, ages, limit)
}

// A worker whose task another one takes after an outage of the database sees the end of it in its sweep.
func TestSweepSeesThatTheStoreIsBack(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		down.Store(true)
		w.jobs = outage{w.store, &down}
		late, begin := w.leavesToOther()
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(engine.DefaultSweepEvery * 3)
		if w.engine.Health().Store == nil {
			t.Error("a sweep that is answered ended an outage in which a message waits")
		}
		defer begin(func(other *world) { other.jobs = w.store })()
		w.settled(2 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		down.Store(false)
		late.Store(false)
		w.settled(engine.DefaultSweepEvery * 11 / 10)
		if got := w.engine.Health().Store; got != nil {
			t.Errorf("the health still says %+v", got)
		}
		w.expectLog("the store answers again")
	})
}

// An outage of the database shows in the health of a worker without any message, and ends there.
func TestSweepSeesThatTheStoreIsDown(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		w.jobs = dead{outage{w.store, &down}}
		w.start(done)
		w.settled(time.Minute)
		down.Store(true)
		began := time.Now()
		w.settled(engine.DefaultSweepEvery * 11 / 10)
		if got := w.engine.Health().Store; got == nil || got.Since.Before(began) || got.Hint == "" || got.Wait != 0 {
			t.Errorf("the health says %+v", got)
		}
		down.Store(false)
		w.settled(engine.DefaultSweepEvery * 11 / 10)
		if got := w.engine.Health().Store; got != nil {
			t.Errorf("the health still says %+v", got)
		}
	})
}

// hanging is a store whose queries of the sweep end with the caller.
type hanging struct{ *storememory.Jobs }

func (hanging) Sweep(ctx context.Context, _ store.SweepAges, _ int) (store.SweepAnswer, error) {
	<-ctx.Done()
	return store.SweepAnswer{}, ctx.Err()
}

// A sweep that ends with the worker says nothing of the database.
func TestSweepThatEndsWithTheWorker(t *testing.T) {
	inWorld(t, func(w *world) {
		w.jobs = hanging{w.store}
		w.start(done)
		w.settled(time.Minute)
		w.stop()
		w.settled(time.Minute)
		if got := w.engine.Health().Store; got != nil {
			t.Errorf("the health says %+v", got)
		}
	})
}

// A breaker closes without a task when its service is back, for little: other workers may have done what waited.
func TestBreakerClosesWithoutATask(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, probes *atomic.Int64) {
		_, begin := w.leavesToOther()
		w.startWith(gated{handlerFunc: done})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		defer begin(func(other *world) { other.probes = nil })() // it finds the gateway up
		w.settled(2 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		before := probes.Load()
		w.settled(time.Hour)
		if n := probes.Load() - before; n < 20 || n > 60 {
			t.Errorf("%d probes in an hour without a task", n)
		}
		up.Store(true)
		w.settled(3 * time.Minute)
		if d := w.dependency(taskerr.Gateway); d.Down() {
			t.Errorf("the health still says %+v", d)
		}
		before = probes.Load()
		w.settled(time.Hour)
		if n := probes.Load() - before; n != 0 {
			t.Errorf("%d probes of a service that is up", n)
		}
	})
}
