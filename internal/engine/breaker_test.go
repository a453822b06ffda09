package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// modelDown is the failure of a model's service.
func modelDown() error {
	return taskerr.Blame(taskerr.Model, taskerr.Errorf(taskerr.ModelOverloaded, "the model is down"))
}

// While the model is down tasks wait and lose few attempts; when it is back all of them succeed. Without the
// breaker each of them would have used up its three attempts within a minute.
func TestBreakerSparesAttempts(t *testing.T) {
	inWorld(t, func(w *world) {
		var up atomic.Bool
		var calls atomic.Int32
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			calls.Add(1)
			if !up.Load() {
				return handlers.Outcome{}, modelDown()
			}
			return done(ctx, c)
		}))
		const tasks = 20
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Hour)
		if n := calls.Load(); n > 3+4+60*60/10 { // what trips it, what ran beside that, and the probes
			t.Errorf("the model was called %d times in an hour of outage", n)
		}
		up.Store(true)
		w.settled(5 * time.Minute)
		for i := range tasks {
			if r := w.row(fmt.Sprint("t", i)); r.State != job.Succeeded {
				t.Errorf("task %d is %s after %d attempts: %s", i, r.State, r.Attempts, r.Error.Message)
			}
		}
		w.expectDepth(w.queues.DeadLetter, 0)
	})
}

// Once the breaker has opened, one task at a time is let through to see: a service that is coming back is not
// met by everybody at once.
func TestBreakerProbesWithOne(t *testing.T) {
	inWorld(t, func(w *world) {
		var now, most atomic.Int32
		opened := time.Now().Add(3 * time.Minute) // what ran then is over
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			n := now.Add(1)
			defer now.Add(-1)
			if time.Now().After(opened) {
				most.Store(max(most.Load(), n))
			}
			time.Sleep(time.Minute)
			return handlers.Outcome{}, modelDown()
		}))
		for i := range 20 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Hour)
		if most.Load() != 1 {
			t.Errorf("%d tasks were let through at a time, want one", most.Load())
		}
	})
}

// A task that is itself at fault opens no breaker.
func TestBreakerIgnoresBadTasks(t *testing.T) {
	inWorld(t, func(w *world) {
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "good" {
				return done(ctx, c)
			}
			return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "damaged")
		}))
		for i := range 10 {
			w.send(w.queues.Normal, message(fmt.Sprint("bad", i), ""))
		}
		w.settled(10 * time.Second)
		w.send(w.queues.Normal, message("good", ""))
		w.settled(11 * time.Second)
		w.expectState("good", job.Succeeded, 1)
	})
}

// needs is a handler with needs.
type needs struct {
	handlerFunc
	of []taskerr.Dependency
}

func needing(d taskerr.Dependency, f handlerFunc) handlers.Handler {
	return needs{f, []taskerr.Dependency{d}}
}

func (n needs) Spec() handlers.Spec {
	s := n.handlerFunc.Spec()
	s.Needs = n.of
	return s
}

// A minute without a database consumes no attempt: neither of a task whose own calls fail, nor of one whose
// call hangs until the database is back, nor of one that can't be committed.
func TestDatabaseOutageCostsNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		w.jobs = outage{w.store, &down}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(20 * time.Second)
			if c.Task.ID == "hangs" && down.Load() {
				for down.Load() {
					time.Sleep(time.Second)
				}
				return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
					taskerr.Errorf(taskerr.TransientStorage, "the connection was reset"))
			}
			if c.Task.ID == "calls" && down.Load() { // the handler's own calls fail
				return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
					taskerr.Errorf(taskerr.TransientStorage, "the database is down"))
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("calls", ""))
		w.send(w.queues.Normal, message("hangs", ""))
		w.send(w.queues.Normal, message("commits", ""))
		w.settled(15 * time.Second)
		down.Store(true)
		w.send(w.queues.Normal, message("comes", ""))
		w.settled(time.Minute)
		down.Store(false)
		w.settled(3 * time.Minute)
		for _, id := range []string{"calls", "hangs", "commits", "comes"} {
			w.expectState(id, job.Succeeded, 1)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// What was held in hand while the database did not answer is committed within a poll interval of its return.
func TestCommitsResumeWithinAPoll(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.PollMax = 2 * time.Second
		var down atomic.Bool
		w.jobs = outage{w.store, &down}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(5 * time.Second)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("a", ""))
		w.settled(3 * time.Second)
		down.Store(true)
		w.settled(time.Minute)
		down.Store(false)
		w.settled(w.cfg.PollMax * 11 / 10) // waits are spread by a tenth
		w.expectState("a", job.Succeeded, 1)
	})
}

// After an outage of the model the work goes on within a poll interval. Apart from those that opened the circuit
// breaker no attempt is lost to it, and those that waited don't wait for another pause.
func TestWorkResumesWithinAPollInterval(t *testing.T) {
	for _, outage := range []time.Duration{60 * time.Second, 63 * time.Second, 66 * time.Second, 69 * time.Second} {
		t.Run(outage.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				const tasks = 20
				up := time.Now().Add(outage)
				var first, last atomic.Int64 // since it was up
				w.startWith(needing(taskerr.Model,
					func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
						since := time.Since(up)
						if since < 0 {
							return handlers.Outcome{}, modelDown()
						}
						first.CompareAndSwap(0, int64(since)+1)
						time.Sleep(time.Second)
						last.Store(int64(time.Since(up)))
						return done(ctx, c)
					}))
				for i := range tasks {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(outage + time.Minute)
				resumed, all := time.Duration(first.Load()), time.Duration(last.Load())
				t.Logf("the first task began %v after the model was up, the last one ended after %v", resumed, all)
				const rounding = time.Second // queues hide messages for whole seconds
				if resumed > w.cfg.PollMax+rounding {
					t.Errorf("the work went on after %v", resumed)
				}
				if all > resumed+10*time.Second { // the probe, four at a time, and what was hidden during the probe
					t.Errorf("the last task ended after %v", all)
				}
				attempts := 0
				for i := range tasks {
					r := w.row(fmt.Sprint("t", i))
					if attempts += r.Attempts; r.State != job.Succeeded {
						t.Errorf("%d is %s", i, r.State)
					}
				}
				if lost := attempts - tasks; lost > 2 { // the third in a row opens it, and is given back
					t.Errorf("%d attempts were lost to the outage", lost)
				}
			})
		})
	}
}

// A crowd that waits for the model is not received again and again.
func TestBreakerSlowsPolling(t *testing.T) {
	inWorld(t, func(w *world) {
		var counter pollTimes
		w.observer = &counter
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}))
		for i := range 300 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(2 * time.Minute)
		if n := counter.most(); n > 3*(4+4) { // three queues, a wait of 250 ms, four ends in a second
			t.Errorf("%d receives in one second", n)
		}
	})
}

// A task that was not admitted while another one tried the model is found soon after that one succeeded,
// however seldom idle queues are looked at.
func TestBreakerWakesPolling(t *testing.T) {
	for _, probe := range []time.Duration{time.Second, 6 * time.Second} { // shorter and longer than the wait for it
		t.Run(probe.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cfg.PollMin, w.cfg.PollMax = time.Hour, time.Hour
				var calls atomic.Int32
				w.startWith(needing(taskerr.Model,
					func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
						if calls.Add(1) <= 3 {
							return handlers.Outcome{}, modelDown()
						}
						time.Sleep(probe)
						return done(ctx, c)
					}))
				w.send(w.queues.Normal, message("t1", ""))
				w.send(w.queues.Normal, message("t2", ""))
				w.engine.Wake()
				w.settled(2 * time.Minute)
				for _, id := range []string{"t1", "t2"} {
					if r := w.row(id); r.State != job.Succeeded {
						t.Errorf("%s is %s", id, r.State)
					}
				}
			})
		})
	}
}

// An attempt that began before the outage and fails while another one tries the model is not counted.
func TestBreakerSparesTheOldOnes(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			switch since := time.Since(began); {
			case c.Task.ID == "old" && since < 10*time.Second:
				time.Sleep(30 * time.Second)
				return handlers.Outcome{}, modelDown()
			case since < 10*time.Second:
				return handlers.Outcome{}, modelDown()
			}
			time.Sleep(time.Minute)
			return done(ctx, c)
		}))
		for _, id := range []string{"old", "t1", "t2", "t3"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(5 * time.Minute)
		w.expectState("old", job.Succeeded, 1)
	})
}

// The service comes back while it is probed for one attempt, after the probe for another one had failed: both failed in the
// outage.
func TestBreakerSparesWhoFailedBeforeTheProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		up := func() bool { return time.Since(began) >= 13*time.Second }
		w.probes = engine.Probes{taskerr.Model: func(context.Context) error {
			if time.Sleep(2 * time.Second); !up() {
				return errors.New("down")
			}
			return nil
		}}
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if up() {
				return done(ctx, c)
			}
			at := 10 * time.Second // its probe fails at 12 s
			if c.Task.ID == "second" {
				at = 11 * time.Second // its probe begins at 12 s, as the other is older than this failure
			}
			time.Sleep(at - time.Since(began))
			return handlers.Outcome{}, modelDown()
		}))
		for _, id := range []string{"first", "second"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(5 * time.Minute)
		w.expectState("first", job.Succeeded, 1)
		w.expectState("second", job.Succeeded, 1)
	})
}

// Tasks that succeed without a dependency do not say that it is up: those that need it are spared all the same.
func TestBreakerIgnoresWhoDoesNotNeedIt(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls atomic.Int32
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if strings.HasPrefix(c.Task.ID, "needs-it") {
				calls.Add(1)
				return handlers.Outcome{}, modelDown()
			}
			out, err := done(ctx, c)
			out.Unused = []taskerr.Dependency{taskerr.Model}
			return out, err
		}))
		for i := range 3 { // three are evidence where there is no probe
			w.send(w.queues.Normal, message(fmt.Sprint("needs-it", i), ""))
		}
		for i := range 30 { // between any two attempts of the others
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
			w.settled(10 * time.Second)
		}
		for i := range 3 {
			if r := w.row(fmt.Sprint("needs-it", i)); r.State == job.Failed {
				t.Errorf("a task that waits for the model failed after %d attempts: %s", r.Attempts, r.Error.Message)
			}
		}
	})
}
