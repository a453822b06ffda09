package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// What a job did before it ended is not held against a series that comes after, also where another worker ended it.
func TestSuspicionEndsWithTheJob(t *testing.T) {
	for name, elsewhere := range map[string]bool{"ended here": false, "ended elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				w.jobs = outage{w.store, &s.down}
				forced := false
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					n := s.called(c.Task.ID)
					if n == 0 || n == 1 || forced { // so its third run ends well, and that after the first forced one
						forced = false
						s.crash(3 * time.Second)
					}
					if err := s.use(c.Task.ID, time.Second); err != nil {
						return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
							taskerr.Errorf(taskerr.TransientStorage, "the connection was reset"))
					}
					return done(ctx, c)
				})
				w.send(w.queues.Normal, message("t1", ""))
				if elsewhere {
					for began := time.Now(); s.called("t1") < 2 || s.down.Load() ||
						w.row("t1").State != job.Pending; w.settled(10 * time.Millisecond) {
						if time.Since(began) > time.Minute {
							t.Fatalf("it is %s after %d runs", w.row("t1").State, s.called("t1"))
						}
					}
					w.endElsewhere("t1")
				}
				w.settled(time.Minute)
				w.expectState("t1", job.Succeeded, 1)
				forced = true
				w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true}}`)
				w.settled(time.Minute)
				w.expectState("t1", job.Succeeded, 1)
				if want := map[bool]int{false: 5, true: 4}[elsewhere]; s.called("t1") != want {
					t.Errorf("it ran %d times, want %d", s.called("t1"), want)
				}
			})
		})
	}
}

// endElsewhere has another worker do a job that waits.
func (w *world) endElsewhere(id string) {
	w.Helper()
	b := w.row(id).Begin
	b.Worker = "w2"
	begun, err := w.store.Begin(w.Context(), b)
	if err != nil || begun.Decision != store.Run {
		w.Fatalf("another worker got %q, %v", begun.Decision, err)
	}
	if _, err := w.store.Complete(w.Context(), store.Completion{
		Holder: store.Holder{JobID: id, Fence: begun.Fence},
		Result: []byte("{}"),
	}); err != nil {
		w.Fatal(err)
	}
}

// An attempt that began before an outage and fails after it is not counted: what it does may have been cut off by the
// outage, and only be found out now.
func TestLateFailureIsSpared(t *testing.T) {
	for name, probes := range map[string]func(*service) engine.Probes{
		"probe": (*service).probes, "no probe": func(*service) engine.Probes { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				w.probes, w.cfg.PollMax = probes(&s), time.Second
				w.startWith(needing(taskerr.Model,
					func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
						if c.Task.ID == "late" && s.called("late") == 0 {
							_ = s.use("late", 10*time.Minute)
							return handlers.Outcome{}, modelDown()
						}
						if err := s.use(c.Task.ID, time.Second); err != nil {
							return handlers.Outcome{}, err
						}
						return done(ctx, c)
					}))
				w.send(w.queues.Normal, message("late", ""))
				w.settled(10 * time.Second)
				s.crash(time.Minute)
				for i := range 3 {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(5 * time.Minute)
				for i := range 3 {
					if r := w.row(fmt.Sprint("t", i)); r.State != job.Succeeded {
						t.Fatalf("t%d is %s: the outage is not over", i, r.State)
					}
				}
				w.settled(10 * time.Minute)
				w.expectState("late", job.Succeeded, 1)
			})
		})
	}
}

// A database that hangs fails its connections in one instant, and may answer again in the next. A task whose failure is
// judged in between, before the engine's own calls have come back, is spared; so is none when those were answered
// quickly. A call that was held up is as good as a failed one: the store's client may have sent it again.
func TestFailureIsJudgedAfterTheEnginesCalls(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		down  bool
		want  int // attempts
	}{
		"the engine's call fails after the task's": {takes: 700 * time.Millisecond, down: true, want: 1},
		"it is answered":               {takes: 700 * time.Millisecond, want: 2},
		"it is held up, and fails":     {takes: time.Minute, down: true, want: 1},
		"it is held up, and answered":  {takes: time.Minute, want: 1},
		"it was held up, and answered": {takes: 1200 * time.Millisecond, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				q := w.question()
				q.down, q.takes = c.down, c.takes
				w.probes = engine.Probes{taskerr.Database: func(context.Context) error { return nil }}
				var s service
				w.start(func(ctx context.Context, call handlers.Call) (handlers.Outcome, error) {
					if s.called(call.Task.ID) > 0 {
						return done(ctx, call)
					}
					took := time.Second // the engine asks for cancel requests meanwhile
					if c.takes > time.Second && c.takes < time.Minute {
						took = 2 * time.Second
					}
					_ = s.use(call.Task.ID, took)
					return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
						taskerr.Errorf(taskerr.TransientStorage, "the connection was reset"))
				})
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(5 * time.Minute)
				w.expectState("t1", job.Succeeded, c.want)
			})
		})
	}
}

// A connection that is cut off costs no attempt, although the database answers everything else: that is what a restart
// between two calls of the engine looks like. A task that it happens to each time ends.
func TestCutOffIsSpared(t *testing.T) {
	cut := taskerr.Blame(taskerr.Database, &taskerr.Error{
		Class: taskerr.TransientStorage, Message: "no answer", Cause: store.ErrCutOff,
	})
	for name, probes := range map[string]engine.Probes{"probe": dbProbe, "no probe": nil} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				w.probes = probes
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 0); c.Task.ID == "once" && s.called("once") > 1 {
						return done(ctx, c)
					}
					return handlers.Outcome{}, cut
				})
				w.send(w.queues.Normal, message("once", ""))
				w.send(w.queues.Normal, message("poison0", ""))
				w.settled(2 * time.Minute)
				w.expectState("once", job.Succeeded, 1)
				w.expectPoisoned(&s, 1, 3+2)
			})
		})
	}
}

// An outage of the database that only the commit finds out costs no attempt.
func TestOutageFoundByTheCommit(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.jobs = outage{w.store, &s.down}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if s.called(c.Task.ID) == 0 {
				_ = s.use(c.Task.ID, 0)
				s.crash(time.Minute)
				return handlers.Outcome{}, taskerr.Blame(taskerr.Database,
					taskerr.Errorf(taskerr.TransientStorage, "the connection was reset"))
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// A database that is read and takes no writes (its disk is full) costs no attempt: the outcome is kept.
func TestOutcomeOutlivesAReadOnlyDatabase(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.jobs = outage{w.store, &s.down}
		w.probes = engine.Probes{taskerr.Database: func(context.Context) error { return nil }}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			_ = s.use(c.Task.ID, time.Second)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(500 * time.Millisecond)
		s.down.Store(true)
		w.settled(8 * time.Minute)
		s.down.Store(false)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		if s.called("t1") != 1 {
			t.Errorf("the task ran %d times", s.called("t1"))
		}
	})
}

// A database that turns all callers away (it has no connection left) costs no attempt however long that lasts, although
// the engine's own connections are older and work. It is asked less and less often, and a task that may not wait ends.
func TestTurnedAwayCostsNoAttempt(t *testing.T) {
	full := taskerr.Blame(taskerr.Database, &taskerr.Error{
		Class: taskerr.TransientStorage, Message: "no connection is left", Cause: store.ErrNotServing,
	})
	for name, probes := range map[string]engine.Probes{"probe": dbProbe, "no probe": nil} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var s service
				w.probes = probes
				over := time.Now().Add(20 * time.Minute)
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if _ = s.use(c.Task.ID, 0); c.Task.ID == "other" || time.Now().After(over) {
						return done(ctx, c)
					}
					return handlers.Outcome{}, full
				})
				w.send(w.queues.Normal, message("waits", ""))
				w.send(w.queues.Normal, message("limited", `},"hints":{"max_wait_seconds":60`))
				w.send(w.queues.Normal, message("other", ""))
				w.settled(time.Hour)
				w.expectState("waits", job.Succeeded, 1)
				w.expectState("other", job.Succeeded, 1)
				if r := w.row("limited"); r.State != job.Failed || r.Error.Class != string(taskerr.WaitExceeded) {
					t.Errorf("a task that may wait for a minute is %s (%v)", r.State, r.Error)
				}
				if n := s.called("waits"); n < 20 || n > 80 {
					t.Errorf("asked %d times in 20 minutes", n)
				}
			})
		})
	}
}
