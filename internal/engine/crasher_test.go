package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Tasks that take the model down each time they run end, and cost the others no attempt.
func TestCrashersEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes, w.cfg.PollMax = s.probes(), 300*time.Millisecond
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if poisonous(c.Task.ID) {
				time.Sleep(100 * time.Millisecond)
				s.crash(3 * time.Second)
			}
			if err := s.use(c.Task.ID, 200*time.Millisecond); err != nil {
				return handlers.Outcome{}, err
			}
			return done(ctx, c)
		}))
		for i := range 4 {
			w.send(w.queues.Normal, message(fmt.Sprint("poison", i), ""))
		}
		took := w.latencies(60)
		t.Logf("of 60 healthy tasks the median took %v, the 95th percentile %v, the slowest %v; %d probes", took[30],
			took[56], took[59], s.probed.Load())
		for i := range 60 {
			if r := w.row(fmt.Sprint("healthy", i)); r.Attempts != 1 {
				t.Errorf("I9: %s took %d attempts", r.JobID, r.Attempts)
			}
		}
		w.expectPoisoned(&s, 4, 3+2)
	})
}

// A task that takes the model down each time, for longer than the first pauses are, leaves the others time in which it
// is up, although nothing but a task can tell whether it is: the pauses grow, and all of them end.
func TestCrasherWithoutAProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		var up atomic.Int64 // when it is up again, in Unix nanoseconds
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if poisonous(c.Task.ID) {
				up.Store(time.Now().Add(time.Minute).UnixNano())
			}
			if _ = s.use(c.Task.ID, time.Second); time.Now().UnixNano() < up.Load() {
				return handlers.Outcome{}, modelDown()
			}
			return done(ctx, c)
		}))
		for _, id := range []string{"poison0", "healthy0", "healthy1"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(time.Hour)
		for _, id := range []string{"poison0", "healthy0", "healthy1"} {
			if r := w.row(id); !r.State.Terminal() || s.called(id) > 20 {
				t.Errorf("I11: %s is %s after %d attempts and %d runs", id, r.State, r.Attempts, s.called(id))
			}
		}
	})
}

// A task that takes the database down each time it runs, or when it is committed, ends, and the others with it.
func TestDatabaseCrashersEnd(t *testing.T) {
	for _, when := range []string{"runs", "commits"} {
		t.Run(when, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				db := crashing{outage{w.store, &s.down}, &s, when == "commits"}
				w.jobs = db
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 0); poisonous(c.Task.ID) && when == "runs" {
						s.crash(3 * time.Second)
						time.Sleep(time.Second)
						return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
							taskerr.Errorf(taskerr.TransientStorage, "the connection was reset"))
					}
					time.Sleep(200 * time.Millisecond)
					return done(ctx, c)
				})
				w.send(w.queues.Normal, message("poison0", ""))
				took := w.latencies(60)
				t.Logf("of 60 healthy tasks the median took %v, the slowest %v; the other ran %d times", took[30],
					took[59], s.called("poison0"))
				w.expectPoisoned(&s, 1, 3+2)
			})
		})
	}
}

// A task that takes the database down when it is committed ends also when nobody else writes: a renewal of its own
// lease shows that the database is up.
func TestLoneDatabaseCrasherEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.jobs = crashing{outage{w.store, &s.down}, &s, true}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			_ = s.use(c.Task.ID, 0)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("poison0", ""))
		w.settled(5 * time.Minute)
		w.expectPoisoned(&s, 1, 3)
	})
}

// A worker does not begin a job whose outcome it has in hand, although its leases have ended: the database hung.
func TestOutcomeInHandIsNotBegunAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.cfg.Lease = 10 * time.Second
		h := w.hook()
		tries := 0
		h.complete = func(ctx context.Context, c store.Completion) (store.Settlement, error) {
			if tries++; tries == 1 {
				time.Sleep(25 * time.Second)
				return store.Settlement{}, errDown
			}
			return w.store.Complete(ctx, c)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			_ = s.use(c.Task.ID, 0)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(2 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		if n := s.called("t1"); n != 1 {
			t.Errorf("I9: it ran %d times", n)
		}
	})
}

// crashing is a database that goes down when some jobs are committed.
type crashing struct {
	outage
	s       *service
	commits bool
}

func (c crashing) Complete(ctx context.Context, done store.Completion) (store.Settlement, error) {
	if c.commits && poisonous(done.JobID) {
		c.s.crash(3 * time.Second)
	}
	return c.outage.Complete(ctx, done)
}
