package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// failingQueue is a queue whose receives fail while fail returns an error.
type failingQueue struct {
	queue.Queue
	fail   func() error
	ensure func()
}

func (q *failingQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	if err := q.fail(); err != nil {
		return nil, err
	}
	return q.Queue.Receive(ctx, n, d)
}

func (q *failingQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if err := q.fail(); err != nil {
		return nil, err
	}
	return q.Queue.Peek(ctx, n)
}

func (q *failingQueue) Ensure(ctx context.Context) error {
	q.ensure()
	return q.Queue.Ensure(ctx)
}

// trouble returns what the engine says of the queue of normal priority.
func (w *world) trouble() *engine.Trouble { return w.engine.Health().Queues[1].Trouble }

// A queue that refuses the worker (403) is asked again and again; the trouble is logged once, with what to
// mend, is seen in the health, and ends with the refusal.
func TestForbiddenQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		var forbidden atomic.Bool
		w.queues.Normal = &failingQueue{w.queues.Normal, func() error {
			if !forbidden.Load() {
				return nil
			}
			return &taskerr.Error{
				Class: taskerr.DependencyUnavailable, Dependency: taskerr.Queues,
				Message: "receive: Azure answered 403 AuthorizationPermissionMismatch",
				Hint:    "give it the role Storage Queue Data Contributor",
			}
		}, func() {}}
		forbidden.Store(true)
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.send(w.queues.High, message("high", ""))
		began := time.Now()
		w.settled(10 * time.Minute)
		w.expectState("high", job.Succeeded, 1) // the other queues are served
		got := w.trouble()
		if got == nil || got.Class != taskerr.DependencyUnavailable || got.Since.After(began) ||
			!strings.Contains(got.Hint, "Contributor") {
			t.Errorf("the health says %+v", got)
		}
		w.expectLog("level=ERROR", "can't receive", "queue=acme-tasks ", "403", "Contributor")
		if n := strings.Count(w.logs.String(), "can't receive"); n != 1 {
			t.Errorf("it was logged %d times", n)
		}
		forbidden.Store(false)
		w.settled(2 * w.cfg.PollMax)
		w.expectState("t1", job.Succeeded, 1)
		w.expectLog("receiving again", "queue=acme-tasks ")
		if got := w.trouble(); got != nil {
			t.Errorf("the health still says %+v", got)
		}
	})
}

// A queue back end that refuses the login, or names a wrong setting, has found no bug in the worker.
func TestRefusedLogin(t *testing.T) {
	for _, refusal := range []error{queue.ErrLogin, queue.ErrSetting} {
		inWorld(t, func(w *world) {
			w.queues.Normal = &failingQueue{w.queues.Normal, func() error {
				return fmt.Errorf("receive: %w: password authentication failed", refusal)
			}, func() {}}
			w.start(done)
			w.settled(time.Minute)
			if got := w.trouble(); got == nil || got.Class != taskerr.DependencyUnavailable || strings.Contains(got.Hint, "bug") {
				t.Errorf("%v: the health says %+v", refusal, got)
			}
		})
	}
}

// A queue that somebody deletes is made again, and serves the tasks that come then.
func TestDeletedQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		var gone atomic.Bool
		w.queues.Normal = &failingQueue{w.queues.Normal, func() error {
			if gone.Load() {
				return fmt.Errorf("receive: %w", queue.ErrNotFound)
			}
			return nil
		}, func() { gone.Store(false) }}
		w.start(done)
		w.settled(time.Minute)
		gone.Store(true)
		w.settled(idleWaitUsed)
		if gone.Load() {
			t.Error("the queue was not made again")
		}
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectLog("level=ERROR", "can't receive", "somebody deleted the queue: it is created again")
		w.expectLog("receiving again", "queue=acme-tasks ")
	})
}

// A panic in a handler ends its job, is logged with its stack, and is over with the next task.
func TestPanicInHandler(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "bad" {
				panic("a bug in a handler")
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("bad", ""))
		w.settled(time.Minute)
		w.expectState("bad", job.Failed, 1)
		w.expectLog("level=ERROR", "a bug in the worker", "a bug in a handler", "stack=")
		w.expectLog("level=WARN", "task failed", "stage=", "error_class=internal_bug", "hint=",
			"report it with the stack")
		if got := w.health("test").Trouble; got == nil || got.Class != taskerr.InternalBug {
			t.Errorf("the health says %+v", got)
		}
		w.send(w.queues.Normal, message("good", ""))
		w.settled(time.Minute)
		w.expectState("good", job.Succeeded, 1)
		if got := w.health("test").Trouble; got != nil {
			t.Errorf("the health still says %+v", got)
		}
	})
}

// A database that restarts is seen in the health while messages wait for it, and no longer after.
func TestDatabaseRestartIsSeen(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		w.jobs = outage{w.store, &down}
		w.start(done)
		down.Store(true)
		w.send(w.queues.Normal, message("t1", ""))
		began := time.Now()
		w.settled(time.Minute)
		if got := w.engine.Health().Store; got == nil || got.Since.Sub(began) > time.Second ||
			got.Wait != w.cfg.PollMax {
			t.Errorf("the health says %+v", got)
		}
		w.expectLog("level=ERROR", "a message has to wait", "can't begin the job", "hint=")
		down.Store(false)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectLog("the store answers again")
		if got := w.engine.Health().Store; got != nil {
			t.Errorf("the health still says %+v", got)
		}
	})
}

// The health has slots, draining and open circuit breakers, as JSON too, and repeats no error's text.
func TestHealth(t *testing.T) {
	inWorld(t, func(w *world) {
		const secret = "hunter2"
		began := time.Now()
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "long" {
				time.Sleep(time.Minute)
				return done(ctx, c)
			}
			return handlers.Outcome{}, taskerr.Blame(taskerr.Model,
				taskerr.Errorf(taskerr.ModelOverloaded, "the model is down: %s", secret))
		}))
		w.send(w.queues.High, message("long", ""))
		for _, id := range []string{"t1", "t2", "t3"} { // one alone says nothing of the model
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(50 * time.Second)
		h := w.engine.Health()
		if h.Running != 1 || h.Slots != 4 || h.Draining || h.Store != nil {
			t.Errorf("the health is %+v", h)
		}
		if d := h.Dependencies; len(d) != 1 || !d[0].Down() || d[0].Since.Sub(began) > 20*time.Second ||
			d[0].Trouble.Class != taskerr.ModelOverloaded {
			t.Errorf("the dependencies are %+v", d)
		}
		text, err := json.Marshal(h)
		if err != nil || strings.Contains(string(text), secret) ||
			!strings.Contains(string(text), `"dependencies":[{"name":"model","state":"`) {
			t.Errorf("%s, %v", text, err)
		}
		w.stop()
		w.settled(time.Second)
		if h := w.engine.Health(); !h.Draining || h.Running != 1 {
			t.Errorf("the health in the drain is %+v", h)
		}
	})
}

// distant is a queue whose answers take a while.
type distant struct{ queue.Queue }

func (d distant) Receive(ctx context.Context, n int, lease time.Duration) ([]*queue.Message, error) {
	time.Sleep(time.Second)
	return d.Queue.Receive(ctx, n, lease)
}

// Slots that a receive is under way for are not counted as running.
func TestIdleRunsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.queues.Normal = distant{w.queues.Normal}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(time.Minute)
			return done(ctx, c)
		})
		w.settled(500 * time.Millisecond)
		if h := w.engine.Health(); h.Running != 0 {
			t.Errorf("%d of %d run, of no task", h.Running, h.Slots)
		}
		w.send(w.queues.Normal, message("t1", ""))
		for range 20 {
			w.settled(1700 * time.Millisecond)
			if h := w.engine.Health(); h.Running > 1 {
				t.Errorf("%d of %d run, of one task", h.Running, h.Slots)
			}
		}
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
	})
}
