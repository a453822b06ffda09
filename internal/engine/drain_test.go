package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/queue"
)

// A shutdown lets running tasks finish, takes no more, and costs no attempt (I9).
func TestDrainFinishesTheRunning(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency = 2
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(time.Minute)
			return done(ctx, c)
		})
		for i := range 5 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(30 * time.Second)
		w.shutdown()
		w.expectDepth(w.queues.Normal, 3)
		finished := 0
		for i := range 5 {
			if r, ok := w.store.Row(fmt.Sprint("t", i)); ok && r.State == job.Succeeded {
				finished++
			}
		}
		if finished != 2 {
			t.Errorf("%d tasks finished, want the 2 that ran", finished)
		}
	})
}

func TestDrainReleasesWhatTakesTooLong(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.DrainMax = 10 * time.Second
		w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		w.shutdown()
		w.expectState("t1", job.Pending, 0)
		if msgs, err := w.queues.Normal.Receive(t.Context(), 1, time.Second); err != nil || len(msgs) != 1 {
			t.Errorf("the message is not visible at once: %v, %v", msgs, err)
		}
	})
}

// Messages that come from a receive in flight when the shutdown begins go back at once, unstarted.
func TestDrainReleasesTheUnstarted(t *testing.T) {
	inWorld(t, func(w *world) {
		slow := &slowQueue{Queue: w.queues.Normal, receiving: make(chan struct{}), answer: make(chan struct{})}
		w.queues.Normal = slow
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			t.Error("a task was started after the shutdown")
			return handlers.Outcome{}, nil
		})
		w.send(slow, message("t1", ""))
		<-slow.receiving
		w.stop()
		synctest.Wait()
		close(slow.answer)
		<-w.ended
		if _, ok := w.store.Row("t1"); ok {
			t.Error("the job was begun")
		}
		if msgs, err := slow.Queue.Receive(t.Context(), 1, time.Second); err != nil || len(msgs) != 1 {
			t.Errorf("the message is not visible at once: %v, %v", msgs, err)
		}
	})
}

// slowQueue answers a receive only when told to.
type slowQueue struct {
	queue.Queue
	once      sync.Once
	receiving chan struct{}
	answer    chan struct{}
}

func (q *slowQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	q.once.Do(func() { close(q.receiving) })
	<-q.answer
	return q.Queue.Receive(ctx, n, d)
}
