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
