package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// stuckQueue is a queue whose receive hangs while hung is open, and ignores its context.
type stuckQueue struct {
	queue.Queue
	hung atomic.Pointer[chan struct{}]
}

func (q *stuckQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	if c := q.hung.Load(); c != nil {
		<-*c
	}
	return q.Queue.Receive(ctx, n, d)
}

func (q *stuckQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if c := q.hung.Load(); c != nil {
		<-*c
	}
	return q.Queue.Peek(ctx, n)
}

// stuckStore is a store whose heartbeats hang in the same way.
type stuckStore struct {
	store.Jobs
	hung chan struct{}
}

func (s *stuckStore) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	<-s.hung
	return s.Jobs.Heartbeat(ctx, b)
}

// watched looks every second for a time whether the engine says that it moves, and returns when it first did not.
func (w *world) watched(d time.Duration) (stuckAfter time.Duration, err error) {
	for passed := time.Duration(0); passed < d; passed += time.Second {
		if err := w.engine.Alive(); err != nil {
			return passed, err
		}
		w.settled(time.Second)
	}
	return 0, nil
}

// An idle engine moves, however long it waits between two polls; so does one whose slots are all taken for hours,
// and one that drains.
func TestAliveWhileItWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency, w.cfg.PollMax = 1, 10*time.Minute
		w.cfg.DrainMax = time.Hour
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			select {
			case <-time.After(29 * time.Minute):
				return done(ctx, c)
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
		})
		check := func(what string, d time.Duration) {
			if after, err := w.watched(d); err != nil {
				t.Errorf("%s for %v: %v", what, after, err)
			}
		}
		check("idle", 30*time.Minute)
		w.send(w.queues.Normal, message("t1", ""))
		w.engine.Wake()
		check("all slots taken", 20*time.Minute)
		h := w.engine.Health()
		if h.Oldest == nil || h.At.Sub(*h.Oldest) < 19*time.Minute || h.Done != 0 {
			t.Errorf("the health is %+v", h)
		}
		w.stop()
		check("draining", 5*time.Minute)
		if h := w.engine.Health(); !h.Draining || h.DrainOf != 1 {
			t.Errorf("the health is %+v", h)
		}
		w.shutdown()
		if err := w.engine.Alive(); err != nil {
			t.Errorf("after its end: %v", err)
		}
		if h := w.engine.Health(); h.Done != 1 || h.Failed != 0 || h.Oldest != nil {
			t.Errorf("the health is %+v", h)
		}
	})
}

// An outage of queue and store is not a reason to restart the worker: the loops move, and back off.
func TestAliveInAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		w.queues.Normal = &failingQueue{w.queues.Normal, func() error {
			if down.Load() {
				return taskerr.Errorf(taskerr.NetworkTimeout, "no answer")
			}
			return nil
		}, func() {}}
		w.start(done)
		down.Store(true)
		if after, err := w.watched(10 * time.Minute); err != nil {
			t.Errorf("after %v: %v", after, err)
		}
	})
}

// A poll loop that hangs in a receive is seen soon, and named.
func TestHungPollLoop(t *testing.T) {
	inWorld(t, func(w *world) {
		q := &stuckQueue{Queue: w.queues.Normal}
		w.queues.Normal = q
		w.start(done)
		w.settled(time.Minute)
		hung := make(chan struct{})
		q.hung.Store(&hung)
		after, err := w.watched(5 * time.Minute)
		stuck, ok := errors.AsType[*engine.StuckError](err)
		if !ok || len(stuck.Loops) != 1 || !strings.Contains(err.Error(), "the poll loop is stuck") {
			t.Fatalf("got %v", err)
		}
		if most := w.cfg.PollMax + 30*time.Second; after > most {
			t.Errorf("it was seen after %v, want %v at most", after, most)
		}
		if h := w.engine.Health(); len(h.Stuck) != 1 {
			t.Errorf("the health is %+v", h)
		}
		q.hung.Store(nil)
		close(hung)
		w.settled(time.Second)
		if err := w.engine.Alive(); err != nil {
			t.Errorf("it moves again, and is called %v", err)
		}
	})
}

// So is a heartbeat that hangs.
func TestHungHeartbeat(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &stuckStore{w.store, make(chan struct{})}
		w.jobs = s
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, message("t1", ""))
		after, err := w.watched(5 * time.Minute)
		if err == nil || !strings.Contains(err.Error(), "a task's heartbeat is stuck") {
			t.Fatalf("got %v", err)
		}
		if most := 2 * w.cfg.Lease; after > most {
			t.Errorf("it was seen after %v, want %v at most", after, most)
		}
		close(s.hung)
	})
}
