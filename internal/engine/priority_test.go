package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestPriorities(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency = 1
		for _, q := range []queue.Queue{w.queues.Low, w.queues.Normal, w.queues.High} {
			for i := range 3 {
				w.send(q, message(fmt.Sprintf("%s.%d", q.Name(), i), ""))
			}
		}
		var mu sync.Mutex
		var order []string
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, strings.Split(c.Task.ID, ".")[0])
			return done(ctx, c)
		})
		w.settled(5 * time.Minute)
		want := "acme-tasks-high acme-tasks-high acme-tasks-high acme-tasks acme-tasks acme-tasks acme-tasks-low " +
			"acme-tasks-low acme-tasks-low"
		if got := strings.Join(order, " "); got != want {
			t.Errorf("served %s", got)
		}
	})
}

// No more is received than there are free slots.
func TestConcurrencyIsTheLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		var now, most atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return done(ctx, c)
		})
		for i := range 50 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Minute)
		w.expectDepth(w.queues.Normal, 0)
		if most.Load() != 4 {
			t.Errorf("%d tasks ran at a time, want 4", most.Load())
		}
	})
}

// failing is a queue that can't be received from until a time.
type failing struct {
	queue.Queue
	until time.Time
}

func (q failing) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if time.Now().Before(q.until) {
		return nil, errDown
	}
	return q.Queue.Receive(ctx, n, visibility)
}

// Low waits for a higher queue that does not answer, which may have messages, but not for ever.
func TestLowWaitsForQueuesThatFail(t *testing.T) {
	for _, high := range []bool{true, false} {
		for down, want := range map[time.Duration][2]time.Duration{
			15 * time.Second: {15 * time.Second, 40 * time.Second}, 24 * time.Hour: {30 * time.Second, time.Minute},
		} {
			inWorld(t, func(w *world) {
				began := time.Now()
				of := &w.queues.Normal
				if high {
					of = &w.queues.High
				}
				w.send(*of, message("first", ""))
				w.send(w.queues.Low, message("low", ""))
				*of = failing{*of, began.Add(down)}
				ran := map[string]time.Duration{}
				var mu sync.Mutex
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					mu.Lock()
					defer mu.Unlock()
					ran[c.Task.ID] = time.Since(began)
					return done(ctx, c)
				})
				w.settled(10 * time.Minute)
				mu.Lock()
				defer mu.Unlock()
				first, answered := ran["first"]
				if at := ran["low"]; at < want[0] || at > want[1] || answered && first > at || answered != (down < time.Minute) {
					t.Errorf("high %t, down for %v: %v", high, down, ran)
				}
			})
		}
	}
}
