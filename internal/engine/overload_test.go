package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// sluggish is a store that answers every call of the engine, after a while.
type sluggish struct {
	store.Jobs
	takes *atomic.Int64
}

func (s sluggish) nap() { time.Sleep(time.Duration(s.takes.Load())) }

func (s sluggish) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	s.nap()
	return s.Jobs.Begin(ctx, b)
}

func (s sluggish) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	s.nap()
	return s.Jobs.Heartbeat(ctx, b)
}

func (s sluggish) Canceling(ctx context.Context, h []store.Holder) ([]store.Holder, error) {
	s.nap()
	return s.Jobs.Canceling(ctx, h)
}

func (s sluggish) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	s.nap()
	return s.Jobs.Complete(ctx, c)
}

func (s sluggish) Retry(ctx context.Context, c store.Retry) (store.Settlement, error) {
	s.nap()
	return s.Jobs.Retry(ctx, c)
}

func (s sluggish) Fail(ctx context.Context, c store.Failure) (store.Settlement, error) {
	s.nap()
	return s.Jobs.Fail(ctx, c)
}

func (s sluggish) Release(ctx context.Context, c store.Release) (store.Settlement, error) {
	s.nap()
	return s.Jobs.Release(ctx, c)
}

// A database that is overloaded for two hours, whose small calls take 1.5 s, and at which the tasks' own calls end by the
// statement timeout: the breaker opens although the probe succeeds, and no healthy task fails.
func TestOverload(t *testing.T) {
	for name, slow := range map[string]time.Duration{"small calls 0.5 s": 500 * time.Millisecond, "small calls 1.5 s": 1500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				var takes atomic.Int64
				takes.Store(int64(slow))
				w.jobs, w.probes = sluggish{w.store, &takes}, dbProbe
				w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 8*time.Second); takes.Load() > 0 {
						return handlers.Outcome{}, tooLong()
					}
					return done(ctx, c)
				}))
				for i := range 60 {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(2 * time.Hour)
				takes.Store(0)
				w.settled(3 * time.Hour)
				failed := 0
				for i := range 60 {
					r := w.row(fmt.Sprint("t", i))
					if r.State != job.Succeeded {
						failed++
					}
				}
				if failed > 6 {
					t.Errorf("%d of 60 healthy tasks failed", failed)
				}
			})
		})
	}
}

// An overload that the probe sees opens the breaker at once.
func TestOverloadThatTheProbeSees(t *testing.T) {
	for name, slow := range map[string]time.Duration{"small calls 0.5 s": 500 * time.Millisecond, "small calls 1.5 s": 1500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				var takes atomic.Int64
				takes.Store(int64(slow))
				w.jobs = sluggish{w.store, &takes}
				w.probes = engine.Probes{taskerr.Database: func(context.Context) error {
					if takes.Load() > 0 {
						return errDown
					}
					return nil
				}}
				w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 8*time.Second); takes.Load() > 0 {
						return handlers.Outcome{}, tooLong()
					}
					return done(ctx, c)
				}))
				for i := range 20 {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(20 * time.Minute)
				takes.Store(0)
				w.settled(3 * time.Hour)
				failed := 0
				for i := range 20 {
					r := w.row(fmt.Sprint("t", i))
					if r.State != job.Succeeded || r.Attempts != 1 {
						failed++
					}
				}
				if failed > 0 {
					t.Errorf("I9: %d of 20 healthy tasks failed or lost an attempt", failed)
				}
			})
		})
	}
}

// A task that loses its lease while some call took 1.2 s: that is neither the database's fault nor its own.
func TestLeaseLostWhileSlow(t *testing.T) {
	for name, slow := range map[string]time.Duration{"0.2 s": 200 * time.Millisecond, "1.2 s": 1200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				var takes atomic.Int64
				takes.Store(int64(slow))
				h := w.hook()
				h.heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
					if s.called(b.JobID) <= 6 {
						return store.HeartbeatAnswer{}, store.ErrFenced
					}
					return w.store.Heartbeat(ctx, b)
				}
				w.jobs, w.probes = sluggish{h, &takes}, dbProbe
				w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					_ = s.use(c.Task.ID, 0)
					select {
					case <-ctx.Done():
						return handlers.Outcome{}, context.Cause(ctx)
					case <-time.After(2 * time.Minute):
					}
					return done(ctx, c)
				}))
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(time.Hour)
				w.expectState("t1", job.Succeeded, 1)
			})
		})
	}
}
