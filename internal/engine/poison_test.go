package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Tasks at which the model fails each time, while it is up, use up their attempts and hold up nobody: the model
// answers its probe.
func TestPoisonEndsAndBlocksNoOther(t *testing.T) {
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				w.probes, w.cfg.PollMax = s.probes(), 300*time.Millisecond
				w.startWith(needing(taskerr.Model,
					func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
						if err := s.use(c.Task.ID, 200*time.Millisecond); err != nil {
							return handlers.Outcome{}, err
						}
						if poisonous(c.Task.ID) {
							time.Sleep(1500 * time.Millisecond) // of retries
							return handlers.Outcome{}, modelDown()
						}
						return done(ctx, c)
					}))
				for i := range n {
					w.send(w.queues.Normal, message(fmt.Sprint("poison", i), ""))
				}
				took := w.latencies(30)
				t.Logf("of 30 healthy tasks the median took %v, the last but one %v, the slowest %v; %d probes",
					took[15], took[28], took[29], s.probed.Load())
				if took[28] > 2*time.Second {
					t.Errorf("healthy tasks were held up: %v", took)
				}
				w.expectPoisoned(&s, n, 3)
			})
		})
	}
}

// One job alone opens no breaker, also where there is no probe.
func TestPoisonWithoutAProbeEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}))
		w.send(w.queues.Normal, message("poison0", ""))
		w.settled(2 * time.Minute)
		w.expectPoisoned(&s, 1, 3)
	})
}

// An outage costs no attempt, not even that of one task alone that found it out.
func TestOutageIsProbed(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = s.probes()
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := s.use(c.Task.ID, time.Second); err != nil {
				return handlers.Outcome{}, err
			}
			return done(ctx, c)
		}))
		s.down.Store(true)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Hour)
		s.down.Store(false)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		if s.called("t1") != 2 || s.probed.Load() > 60*60/8 {
			t.Errorf("%d runs and %d probes in an hour of outage", s.called("t1"), s.probed.Load())
		}
	})
}

// A model that answers its probe and nothing else is taken for down when enough different tasks have failed.
func TestProbeThatLies(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = engine.Probes{taskerr.Model: func(context.Context) error { return nil }}
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := s.use(c.Task.ID, time.Second); err != nil {
				return handlers.Outcome{}, err
			}
			return done(ctx, c)
		}))
		s.down.Store(true)
		for i := range 20 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Hour)
		s.down.Store(false)
		w.settled(5 * time.Minute)
		for i := range 20 {
			if r := w.row(fmt.Sprint("t", i)); r.State != job.Succeeded {
				t.Errorf("%s is %s after %d attempts", r.JobID, r.State, r.Attempts)
			}
		}
	})
}

// What waits for a service that never comes back fails with a class that says so: a job that was begun, and one whose
// message is not admitted each time (I11).
func TestWaitsHaveAnEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes, w.cfg.WaitMax = s.probes(), 6*time.Hour
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}))
		s.down.Store(true)
		w.send(w.queues.Normal, message("tried", ""))
		w.settled(time.Minute)
		w.send(w.queues.Normal, message("not-admitted", ""))
		w.settled(6*time.Hour - 10*time.Minute)
		if r := w.row("tried"); r.State != job.Pending || r.Attempts != 0 {
			t.Errorf("before its time it is %s after %d attempts", r.State, r.Attempts)
		}
		w.settled(6*time.Hour + 30*time.Minute)
		for _, id := range []string{"tried", "not-admitted"} {
			if r := w.row(id); r.State != job.Failed || taskerr.Class(r.Error.Class) != taskerr.WaitExceeded ||
				r.Error.Retryable {
				t.Errorf("I11: %s is %s after %v (%+v)", id, r.State, time.Since(r.WaitingFrom), r.Error)
			}
		}
		w.expectDepth(w.queues.DeadLetter, 2)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// A message that is old because no worker was there is not given up in an outage.
func TestOldMessagesOutliveAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes, w.cfg.WaitMax = s.probes(), 6*time.Hour
		w.send(w.queues.Normal, message("t1", ""))
		w.send(w.queues.Normal, message("t2", ""))
		w.settled(24 * time.Hour)
		s.down.Store(true)
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := s.use(c.Task.ID, time.Second); err != nil {
				return handlers.Outcome{}, err
			}
			return done(ctx, c)
		}))
		w.settled(5 * time.Hour)
		s.down.Store(false)
		w.settled(30 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectState("t2", job.Succeeded, 1)
	})
}

// A task that runs in vain each time a service is down does so at most so often (I11).
func TestReleasesHaveAnEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxReleases = 5
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}))
		for i := range 4 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Hour)
		for i := range 4 {
			if r := w.row(fmt.Sprint("t", i)); r.State != job.Failed ||
				taskerr.Class(r.Error.Class) != taskerr.WaitExceeded || r.Releases != 5 {
				t.Errorf("I11: %s is %s after %d releases (%s)", r.JobID, r.State, r.Releases, r.Error.Message)
			}
		}
	})
}

// Tasks that don't need the model run at once while others wait for it, however many.
func TestOthersRunWhileManyWait(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = s.probes()
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}), typed{done, "other"})
		s.down.Store(true)
		for i := range 800 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(5 * time.Minute) // a while after all of them were seen
		var took []time.Duration
		for i := range 30 {
			begun, id := time.Now(), fmt.Sprint("other", i)
			w.send(w.queues.Normal, typedMessage(id, "other"))
			w.settled(time.Minute)
			took = append(took, w.row(id).Ended.Sub(begun))
		}
		slices.Sort(took)
		t.Logf("of 30 tasks that don't need it, the median took %v, the slowest %v", took[15], took[29])
		if took[29] > 10*time.Second {
			t.Errorf("tasks that don't need the model wait for it: %v", took)
		}
	})
}

// Tasks that fail again and again count once each: they don't lower how many of their type may run.
func TestRepeatedFailuresLowerNoLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxAttempts, w.cfg.PollMax = 50, 300*time.Millisecond
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if poisonous(c.Task.ID) {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.AIRateLimit, "slow down")
			}
			return done(ctx, c)
		})
		for i := range 4 {
			w.send(w.queues.Normal, message(fmt.Sprint("poison", i), ""))
		}
		for i := range 24 {
			w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
			w.settled(5 * time.Second)
			w.expectLimit("test", 4)
		}
	})
}

// A service that goes down while another task succeeds, in the moment in which it is asked, is taken for down.
func TestSuccessWhileTheProbeIsAsked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.probes = engine.Probes{taskerr.Model: func(context.Context) error {
			time.Sleep(5 * time.Second)
			return modelDown()
		}}
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if poisonous(c.Task.ID) {
				return handlers.Outcome{}, modelDown()
			}
			time.Sleep(2 * time.Second)
			return done(ctx, c)
		}))
		w.send(w.queues.Normal, message("poison0", ""))
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(8 * time.Second)
		w.expectState("t1", job.Succeeded, 1)
		w.expectState("poison0", job.Pending, 0)
		if d := w.engine.Health().Dependencies; len(d) != 1 || !d[0].Down() || d[0].Trouble == nil ||
			d[0].Trouble.Class != taskerr.ModelOverloaded {
			t.Errorf("the dependencies are %+v", d)
		}
	})
}
