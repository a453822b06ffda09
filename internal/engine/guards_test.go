package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// counting counts the renewals of messages.
type counting struct {
	queue.Queue
	renewals *atomic.Int32
}

func (q counting) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	msgs, err := q.Queue.Receive(ctx, n, d)
	for _, m := range msgs {
		m.Lease = countingLease{m.Lease, q.renewals}
	}
	return msgs, err
}

type countingLease struct {
	queue.Lease
	renewals *atomic.Int32
}

func (l countingLease) Extend(ctx context.Context, d time.Duration) error {
	l.renewals.Add(1)
	return l.Lease.Extend(ctx, d)
}

// No renewal races the settlement: a receipt that changes under a delete, or a heartbeat after the commit.
func TestHeartbeatEndsBeforeSettling(t *testing.T) {
	inWorld(t, func(w *world) {
		var beats, renewals atomic.Int32
		w.queues.Normal = counting{w.queues.Normal, &renewals}
		h := w.hook()
		h.heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			beats.Add(1)
			return w.store.Heartbeat(ctx, b)
		}
		h.complete = func(ctx context.Context, c store.Completion) (store.Settlement, error) {
			beats.Store(0)
			renewals.Store(0)
			time.Sleep(25 * time.Second) // beyond the time of the next renewal
			if beats.Load() > 0 || renewals.Load() > 0 {
				t.Errorf("%d heartbeats and %d renewals during the commit", beats.Load(), renewals.Load())
			}
			return w.store.Complete(ctx, c)
		}
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// A dead letter whose copy is on its queue is not copied again for another message of the same job (I6).
func TestDeadLetterIsCopiedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
		})
		for range 3 {
			w.send(w.queues.Normal, message("t1", ""))
			w.settled(time.Minute)
		}
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}

// A worker that slept beyond its lease wakes up while another one works on the job: it commits nothing,
// and the other one's work is what counts (I4).
func TestZombie(t *testing.T) {
	inWorld(t, func(w *world) {
		wake, second := make(chan struct{}), make(chan struct{})
		w.hook().heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			if b.Fence == 1 {
				return store.HeartbeatAnswer{}, errDown
			}
			return w.store.Heartbeat(ctx, b)
		}
		w.start(func(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				<-wake
				return handlers.Outcome{Result: map[string]string{"by": "zombie"}}, nil
			}
			close(second)
			time.Sleep(time.Minute)
			return handlers.Outcome{Result: map[string]string{"by": "second"}}, nil
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(2 * time.Minute)
		w.send(w.queues.Normal, message("t1", "")) // a duplicate: the first message is still held
		<-second                                   // the failing heartbeats make an outage, after which the holder goes first
		close(wake)
		w.settled(time.Second)
		if r := w.row("t1"); r.State != job.Running || r.Commits != 0 {
			t.Errorf("the job is %s after %d commits, while the second worker has it", r.State, r.Commits)
		}
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
		if r := w.row("t1"); r.Commits != 1 || string(r.Result[:14]) != `{"by":"second"` {
			t.Errorf("%d commits, the result is %s", r.Commits, r.Result)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// closedQueue takes no messages while it is closed.
type closedQueue struct {
	queue.Queue
	closed *atomic.Bool
}

func (q closedQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if q.closed.Load() {
		return "", errDown
	}
	return q.Queue.Send(ctx, text, o)
}

// A dead letter that could not be copied is copied later, although a forced message has done the job again
// meanwhile (I6).
func TestEarlierDeadLetterIsCopied(t *testing.T) {
	inWorld(t, func(w *world) {
		var closed atomic.Bool
		closed.Store(true)
		w.queues.DeadLetter = closedQueue{w.queues.DeadLetter, &closed}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if !c.Task.Hints.Force {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true}}`)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.DeadLetter, 0)
		closed.Store(false)
		w.settled(time.Minute)
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}

// deafQueue receives nothing while it is deaf.
type deafQueue struct {
	queue.Queue
	deaf *atomic.Bool
}

func (q deafQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if q.deaf.Load() {
		return nil, nil
	}
	return q.Queue.Receive(ctx, n, visibility)
}

// A job failed in two series, no dead letter could be copied, and of its messages one is left, which begin reports
// the first alone: both are copied (I6). Found by the simulation, seed 3215663480.
func TestBothDeadLettersAreCopied(t *testing.T) {
	inWorld(t, func(w *world) {
		var closed, deaf atomic.Bool
		closed.Store(true)
		w.queues.DeadLetter = closedQueue{w.queues.DeadLetter, &closed}
		normal := w.queues.Normal
		w.queues.Normal = deafQueue{normal, &deaf}
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
		})
		w.send(normal, message("t1", ""))
		w.settled(8 * time.Second)
		w.send(normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true}}`)
		w.settled(time.Minute)

		deaf.Store(true)
		w.settled(time.Minute) // both messages are visible
		messages, err := normal.Receive(t.Context(), 32, time.Minute)
		if err != nil || len(messages) != 2 {
			t.Fatalf("%d messages wait, want both: %v", len(messages), err)
		}
		if err := messages[0].Lease.Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		closed.Store(false)
		deaf.Store(false)
		w.settled(5 * time.Minute)
		letters := w.store.DeadLetters()
		if len(letters) != 2 || !letters[0].Sent || !letters[1].Sent {
			t.Errorf("the dead letters are %+v, want two that were copied", letters)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}
