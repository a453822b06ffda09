package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// modelDown is the failure of a model's service.
func modelDown() error {
	return job.Blame(job.Model, job.Errorf(job.ModelOverloaded, "the model is down"))
}

// While the model is down tasks wait and lose few attempts; when it is back all of them succeed. Without the
// breaker each of them would have used up its three attempts within a minute.
func TestBreakerSparesAttempts(t *testing.T) {
	inWorld(t, func(w *world) {
		var up atomic.Bool
		var calls atomic.Int32
		w.startWith(needing(job.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
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

// A task that is itself at fault opens no breaker.
func TestBreakerIgnoresBadTasks(t *testing.T) {
	inWorld(t, func(w *world) {
		w.startWith(needing(job.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "good" {
				return done(ctx, c)
			}
			return handlers.Outcome{}, job.Errorf(job.CorruptionDetected, "damaged")
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
	of []job.Dependency
}

func needing(d job.Dependency, f handlerFunc) handlers.Handler { return needs{f, []job.Dependency{d}} }

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
				return handlers.Outcome{}, job.Blame(job.Database, job.Errorf(job.TransientStorage, "the connection was reset"))
			}
			if c.Task.ID == "calls" && down.Load() { // the handler's own calls fail
				return handlers.Outcome{}, job.Blame(job.Database, job.Errorf(job.TransientStorage, "the database is down"))
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

// What was held in hand while the database was away is committed within a poll interval of its return.
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
