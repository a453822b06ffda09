package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// A handler whose job went to another attempt is stopped by the next heartbeat: what it would still do is
// void (I4).
func TestLostLeaseStopsTheHandler(t *testing.T) {
	inWorld(t, func(w *world) {
		var stopped atomic.Bool
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt > 1 {
				return done(ctx, c)
			}
			<-ctx.Done()
			stopped.Store(errors.Is(context.Cause(ctx), engine.ErrLeaseLost))
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		// Somebody else retries it, and so raises the fence.
		if _, err := w.store.Retry(t.Context(),
			store.Retry{Holder: store.Holder{JobID: "t1", Fence: w.row("t1").Fence}}); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Minute)
		if !stopped.Load() {
			t.Error("the handler works on for nothing")
		}
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
	})
}

// The handler's events are written even when a heartbeat could not write them (I8).
func TestFailedHeartbeatKeepsEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		var tries atomic.Int32
		w.hook().heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			if tries.Add(1) == 1 {
				return store.HeartbeatAnswer{}, errDown
			}
			return w.store.Heartbeat(ctx, b)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := c.Progress.Stage("second"); err != nil {
				return handlers.Outcome{}, err
			}
			time.Sleep(10 * time.Second)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		written := 0
		for _, e := range w.row("t1").Events {
			if e.Stage == "second" {
				written++
			}
		}
		if written != 1 {
			t.Errorf("the stage was written %d times, want once", written)
		}
	})
}

// firsts is a queue whose leases are queue.FirstReleasers. It counts what is given back first, and otherwise.
type firsts struct {
	queue.Queue
	first, other *atomic.Int32
}

func (q firsts) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	msgs, err := q.Queue.Receive(ctx, n, d)
	for _, m := range msgs {
		m.Lease = firstLease{m.Lease, q}
	}
	return msgs, err
}

type firstLease struct {
	queue.Lease
	q firsts
}

func (l firstLease) Release(ctx context.Context, d time.Duration) error {
	l.q.other.Add(1)
	return l.Lease.Release(ctx, d)
}

func (l firstLease) ReleaseFirst(ctx context.Context, d time.Duration) error {
	l.q.first.Add(1)
	return l.Lease.Release(ctx, d)
}

// The task of a worker that died does not go behind all that wait when its message comes back before its job's lease has
// ended. One that waits for its next attempt does, and a duplicate: such messages must not hold up the others.
func TestOrphanStaysFirst(t *testing.T) {
	for name, first := range map[string]bool{"orphan": true, "retry": false, "duplicate": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				q := firsts{w.queues.Normal, new(atomic.Int32), new(atomic.Int32)}
				w.queues.Normal = q
				w.send(w.queues.Normal, message("t1", ""))
				sent, err := q.Peek(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				began := sent[0].ID
				if name == "duplicate" {
					began = "another"
				}
				holder := w.begunFrom(began, message("t1", ""), 3)
				if name == "retry" {
					if _, err := w.store.Retry(t.Context(), store.Retry{Holder: holder, After: 30 * time.Second}); err != nil {
						t.Fatal(err)
					}
				}
				w.start(done)
				w.settled(3 * time.Minute)
				w.expectState("t1", job.Succeeded, 2)
				if (q.first.Load() > 0) != first || (q.other.Load() > 0) == first {
					t.Errorf("given back first %d times, otherwise %d", q.first.Load(), q.other.Load())
				}
			})
		})
	}
}

// unsendable is a queue that takes no message.
type unsendable struct{ queue.Queue }

func (unsendable) Send(context.Context, string, queue.SendOptions) (string, error) {
	return "", errDown
}

// A job that was recorded and whose message never got out is sent by the sweep (I1).
func TestUnsentIsSent(t *testing.T) {
	inWorld(t, func(w *world) {
		submitter := engine.Submitter{
			Store: w.store, Queues: engine.Queues{Normal: unsendable{w.queues.Normal}},
			MaxAttempts: func(task.Type) int { return 3 },
		}
		if _, err := submitter.Submit(t.Context(), task.Task{
			ID: "t1", Type: "test",
			Payload: []byte(`{"n":1}`),
		}); !errors.Is(err, errDown) {
			t.Fatalf("submit: %v", err)
		}
		w.start(done)
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}
