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

func cutOff() error {
	return taskerr.Blame(taskerr.Database, &taskerr.Error{
		Class: taskerr.TransientStorage, Message: "no answer", Cause: store.ErrCutOff,
	})
}

func tooLong() error { // 57014: the database answered, and did not run it
	return taskerr.Blame(taskerr.Database, taskerr.Errorf(taskerr.TransientStorage, "could not run aw_x (57014)"))
}

var dbProbe = engine.Probes{taskerr.Database: func(context.Context) error { return nil }}

// What may have been an outage excuses a task twice, however many workers share its queue.
func TestDoubtEndsOverWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		err  func() error
		slow time.Duration
	}{"cut": {cutOff, 0}, "slow database, own failure": {tooLong, 1500 * time.Millisecond}} {
		for _, workers := range []int{1, 2, 8} {
			t.Run(fmt.Sprint(name, workers), func(t *testing.T) {
				inWorld(t, func(w *world) {
					var s service
					var slow atomic.Int64
					slow.Store(int64(c.slow))
					w.jobs, w.probes = sluggish{w.store, &slow}, dbProbe
					w.cfg.PollMin, w.cfg.PollMax = 10*time.Millisecond, time.Second
					var stops []func()
					for i := range workers {
						w.cfg.Worker = fmt.Sprint("w", i)
						w.startWith(needing(taskerr.Database, func(ctx context.Context, call handlers.Call) (handlers.Outcome, error) {
							_ = s.use(call.Task.ID, 2*time.Second)
							return handlers.Outcome{}, c.err()
						}))
						w.settled(0)
						stop, ended := w.stop, w.ended
						stops = append(stops, func() { stop(); <-ended })
					}
					w.send(w.queues.Normal, message("poison0", ""))
					w.settled(20 * time.Minute)
					w.expectPoisoned(&s, 1, 3+2)
					for _, stop := range stops {
						stop()
					}
				})
			})
		}
	}
}

// It excuses it twice, too, if the worker is replaced after each run, so that no process remembers.
func TestDoubtEndsOverRestarts(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = dbProbe
		for range 30 {
			w.startWith(needing(taskerr.Database, func(context.Context, handlers.Call) (handlers.Outcome, error) {
				_ = s.use("poison0", 0)
				return handlers.Outcome{}, cutOff()
			}))
			if s.called("poison0") == 0 {
				w.send(w.queues.Normal, message("poison0", ""))
			}
			w.settled(900 * time.Millisecond)
			w.shutdown()
			w.settled(time.Minute)
		}
		w.expectPoisoned(&s, 1, 3+2)
	})
}

// A service that hung may be up again when the attempt has failed: its probe succeeds, and no attempt is lost.
func TestHangThatEndsCostsNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.probes = engine.Probes{taskerr.Model: func(context.Context) error { return nil }}
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if w.row(c.Task.ID).Releases == 0 {
				return handlers.Outcome{}, hung()
			}
			return done(ctx, c)
		}))
		for i := range 3 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Minute)
		for i := range 3 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}

// A task at which a service hangs each time ends.
func TestPoisonThatHangsEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = engine.Probes{taskerr.Model: func(context.Context) error { return nil }}
		w.startWith(needing(taskerr.Model, func(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
			_ = s.use(c.Task.ID, 2*time.Second)
			return handlers.Outcome{}, hung()
		}))
		w.send(w.queues.Normal, message("poison0", ""))
		w.settled(time.Hour)
		w.expectPoisoned(&s, 1, 3+2)
	})
}

func hung() error {
	return taskerr.Blame(taskerr.Model, taskerr.Errorf(taskerr.NetworkTimeout, "no answer within 2s"))
}

// A call of the store that panics is not in flight any more, and excuses no other task.
func TestPanicIsNoCallInFlight(t *testing.T) {
	for name, panics := range map[string]bool{"no panic": false, "panic": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				h := w.hook()
				h.begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
					if panics && b.Task.JobID == "bad" {
						panic("a bug")
					}
					return w.store.Begin(ctx, b)
				}
				w.probes = dbProbe
				w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 0); poisonous(c.Task.ID) {
						return handlers.Outcome{}, tooLong()
					}
					return done(ctx, c)
				}))
				w.send(w.queues.Normal, message("bad", ""))
				w.settled(10 * time.Second)
				w.send(w.queues.Normal, message("poison0", ""))
				w.settled(20 * time.Minute)
				if r := w.row("poison0"); r.State != job.Failed || s.called("poison0") != 3 {
					t.Errorf("it is %s after %d runs, want 3", r.State, s.called("poison0"))
				}
			})
		})
	}
}

// A task whose own checkpoint holds up its heartbeat, and that fails then, ends.
func TestOwnCheckpointEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		h := w.hook()
		h.heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			if b.Checkpoint != nil {
				time.Sleep(1500 * time.Millisecond)
			}
			return w.store.Heartbeat(ctx, b)
		}
		w.probes = dbProbe
		w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			_ = s.use(c.Task.ID, 0)
			c.Progress.Checkpoint(map[string]string{"x": "large"})
			time.Sleep(5 * time.Second)
			return handlers.Outcome{}, tooLong()
		}))
		w.send(w.queues.Normal, message("poison0", ""))
		w.settled(time.Hour)
		w.expectPoisoned(&s, 1, 3+2)
	})
}

// Tasks whose connections were cut off twice while the database was up run beside each other as before.
func TestCutOffMakesNoSuspects(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = dbProbe
		w.startWith(needing(taskerr.Database, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if _ = s.use(c.Task.ID, time.Second); s.called(c.Task.ID) <= 2 {
				return handlers.Outcome{}, cutOff()
			}
			time.Sleep(10 * time.Minute)
			return done(ctx, c)
		}))
		began := time.Now()
		for i := range 8 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(24 * time.Hour)
		var last time.Duration
		for i := range 8 {
			r := w.row(fmt.Sprint("t", i))
			if r.State != job.Succeeded {
				t.Errorf("%s is %s", r.JobID, r.State)
			}
			last = max(last, r.Ended.Sub(began))
		}
		if last > 25*time.Minute {
			t.Errorf("they ran one at a time: %v, want about 20 min", last)
		}
	})
}
