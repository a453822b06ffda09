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
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// gated is a handler that needs the gateway, except for tasks whose id begins with "free".
type gated struct {
	handlerFunc
	most int
}

func (g gated) Spec() handlers.Spec {
	s := g.handlerFunc.Spec()
	s.Needs, s.Concurrency = []taskerr.Dependency{taskerr.Gateway}, g.most
	return s
}

func (g gated) Needs(t task.Task) []taskerr.Dependency {
	if strings.HasPrefix(t.ID, "free") {
		return nil
	}
	return g.Spec().Needs
}

// gatedWorld has a gateway that is down until up is set, and is probed first.
func gatedWorld(t *testing.T, f func(w *world, up *atomic.Bool, probes *atomic.Int64)) {
	t.Helper()
	inWorld(t, func(w *world) {
		var up atomic.Bool
		var probes atomic.Int64
		w.cfg.ProbeFirst = map[taskerr.Dependency]time.Duration{taskerr.Gateway: 10 * time.Second}
		w.probes = engine.Probes{
			taskerr.Gateway: func(context.Context) error {
				probes.Add(1)
				if !up.Load() {
					return errors.New("down")
				}
				return nil
			},
		}
		f(w, &up, &probes)
	})
}

// TestProbedFirst: while a service that is probed first is down, no job that needs it is begun; afterwards one attempt
// does it. Tasks of the type that don't need it run.
func TestProbedFirst(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, probes *atomic.Int64) {
		w.startWith(gated{handlerFunc: done})
		for i := range 5 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.send(w.queues.Normal, message("free", ""))
		w.settled(10 * time.Minute)
		for i := range 5 {
			if r, there := w.store.Row(fmt.Sprint("t", i)); there {
				w.Errorf("t%d was begun: %+v", i, r)
			}
		}
		w.expectState("free", job.Succeeded, 1)
		if n := probes.Load(); n < 30 || n > 80 {
			w.Errorf("%d probes in ten minutes", n)
		}
		up.Store(true)
		w.settled(time.Minute)
		for i := range 5 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}

// TestProbedSeldom: a service that tasks use all the time is not probed for each of them.
func TestProbedSeldom(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, probes *atomic.Int64) {
		up.Store(true)
		w.startWith(gated{handlerFunc: done})
		for i := range 100 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
			w.settled(time.Second)
		}
		if n := probes.Load(); n > 2 {
			w.Errorf("%d probes for 100 tasks in a row", n)
		}
		w.settled(time.Minute)
		w.send(w.queues.Normal, message("late", ""))
		before := probes.Load()
		w.settled(time.Minute)
		w.expectState("late", job.Succeeded, 1)
		if probes.Load() != before+1 {
			w.Errorf("%d probes after a pause", probes.Load()-before)
		}
	})
}

// TestMaxWait: a task fails when it has waited for as long as its hint says, with the service's code and without an
// attempt of its handler; one without the hint waits on.
func TestMaxWait(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		var ran atomic.Int64
		w.startWith(gated{handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			ran.Add(1)
			return done(ctx, c)
		}})
		began := time.Now()
		w.send(w.queues.Normal, message("patient", ""))
		w.send(w.queues.Normal, `{"task_id":"hasty","task_type":"test","payload":{},"hints":{"max_wait_seconds":90}}`)
		for time.Since(began) < time.Hour {
			if r, there := w.store.Row("hasty"); there && r.State == job.Failed {
				break
			}
			w.settled(time.Second)
		}
		// Its wait ends while an idle worker pauses: the longest pause, spread by a tenth, comes on top.
		most := 90*time.Second + w.cfg.PollMax*11/10 + 2*time.Second
		if waited := time.Since(began); waited < 89*time.Second || waited > most {
			w.Errorf("it failed after %v, not within %v", waited, most)
		}
		r := w.row("hasty")
		if r.State != job.Failed || r.Error.Code != "GW_5XX" || r.Error.Class != string(taskerr.WaitExceeded) ||
			ran.Load() != 0 {
			w.Errorf("%+v; %d runs", r.Error, ran.Load())
		}
		up.Store(true)
		w.settled(10 * time.Minute)
		w.expectState("patient", job.Succeeded, 1)
	})
}

// TestMaxWaitInABacklog: what a task waits for a slot while the service is up is not the service's: moments in which it
// is down fail no task of a long backlog.
func TestMaxWaitInABacklog(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		began, refused := time.Now(), 0
		w.probes[taskerr.Gateway] = func(context.Context) error {
			if refused < 2 && time.Since(began) > time.Duration(refused+1)*2*time.Minute { // engines run one probe at a time
				refused++
				return errors.New("down")
			}
			return nil
		}
		w.startWith(gated{handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(11 * time.Second) // virtual; longer than ProbeFirst
			return done(ctx, c)
		}})
		for i := range 120 {
			w.send(w.queues.Normal, fmt.Sprintf(`{"task_id":"t%d","task_type":"test","payload":{},"hints":{"max_wait_seconds":60}}`, i))
		}
		w.settled(10 * time.Minute)
		if refused != 2 {
			t.Fatalf("%d probes failed, want 2", refused)
		}
		for i := range 120 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}

// TestMaxWaitOfRestartedWorkers: the wait of a task ends although no worker lives for that long, as WAIT_MAX_HOURS says.
func TestMaxWaitOfRestartedWorkers(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		w.cfg.WaitMax = 20 * time.Minute
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"max_wait_seconds":60}}`)
		for range 60 {
			w.startWith(gated{handlerFunc: done})
			w.settled(30 * time.Second)
			w.shutdown()
			w.stop = nil
		}
		if r := w.row("t1"); r.State != job.Failed || r.Error.Class != string(taskerr.WaitExceeded) {
			t.Errorf("it is %s: %+v", r.State, r.Error)
		}
	})
}

// TestMaxWaitBeyondTheWorkers: a task that says that it may wait for longer than the worker's limit does.
func TestMaxWaitBeyondTheWorkers(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		w.cfg.WaitMax = time.Minute
		w.startWith(gated{handlerFunc: done})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"max_wait_seconds":86400}}`)
		w.send(w.queues.Normal, message("t2", ""))
		w.settled(23 * time.Hour)
		w.expectState("t2", job.Failed, 1)
		up.Store(true)
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// TestMessageExpiresInAnOutage: a task whose message expires while it waits for a service is done afterwards (I1).
func TestMessageExpiresInAnOutage(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		w.startWith(gated{handlerFunc: done})
		for id, ttl := range map[string]time.Duration{"t1": 5 * time.Hour, "t2": 20 * time.Minute} {
			if _, err := w.queues.Normal.Send(t.Context(), message(id, ""), queue.SendOptions{TTL: ttl}); err != nil {
				t.Fatal(err)
			}
		}
		w.settled(3 * time.Hour)
		if r, there := w.store.Row("t1"); there {
			t.Errorf("t1 was begun long before its message expires: %+v", r)
		}
		w.settled(5 * time.Hour)
		w.expectDepth(w.queues.Normal, 0)
		up.Store(true)
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
		w.expectState("t2", job.Succeeded, 1)
	})
}

// TestMaxWaitFromTheStart: the wait of a task that starts later counts from then, not from its message.
func TestMaxWaitFromTheStart(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		w.startWith(gated{handlerFunc: done})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"max_wait_seconds":90},"run_at":"`+
			time.Now().Add(50*time.Second).UTC().Format(time.RFC3339)+`"}`) // soon enough to stay on the queue
		w.settled(2 * time.Minute)
		if r, there := w.store.Row("t1"); there && r.State == job.Failed {
			w.Error("it was given up before its time was over")
		}
		w.settled(2 * time.Minute)
		w.expectState("t1", job.Failed, 1)
	})
}

// TestMaxWaitOfARunTask: the wait of a task that had run counts from its first release, not from its message.
func TestMaxWaitOfARunTask(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		began := time.Now()
		w.startWith(gated{handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				time.Sleep(5 * time.Minute) // virtual
				up.Store(false)
				return handlers.Outcome{}, &taskerr.Error{Class: taskerr.DependencyUnavailable, Dependency: taskerr.Gateway}
			}
			return done(ctx, c)
		}})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"max_wait_seconds":90}}`)
		w.settled(5*time.Minute + 45*time.Second)
		if r := w.row("t1"); r.State != job.Pending {
			w.Fatalf("it is %s after %v", r.State, time.Since(began))
		}
		w.settled(2 * time.Minute)
		if r := w.row("t1"); r.State != job.Failed || r.Error.Code != "GW_5XX" {
			w.Errorf("it is %s (%s)", r.State, r.Error.Code)
		}
	})
}

// TestOwnLimit: a type with a limit of its own leaves the other slots to others.
func TestOwnLimit(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		var now, most atomic.Int64
		w.startWith(gated{most: 2, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); {
				m = most.Load()
			}
			time.Sleep(time.Second) // virtual
			return done(ctx, c)
		}})
		for i := range 20 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(5 * time.Minute)
		for i := range 20 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
		if most.Load() != 2 {
			w.Errorf("%d ran at once, want 2", most.Load())
		}
	})
}
