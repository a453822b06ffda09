package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
)

// jitter is between half of d and d and a half.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// receiveCounter counts receives by queue and the messages that came.
type receiveCounter struct {
	engine.NopObserver
	mu      sync.Mutex
	byQueue map[string]int
	got     int
}

func (c *receiveCounter) Polled(queue string, _, got int, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byQueue == nil {
		c.byQueue = map[string]int{}
	}
	c.byQueue[queue]++
	c.got += got
}

// Slots that short tasks free one by one cost no receive each, and an empty high is not asked each time.
func TestBacklogCostsFewReceives(t *testing.T) {
	inWorld(t, func(w *world) {
		const tasks = 2000
		w.cfg.Concurrency = 32
		counter := &receiveCounter{}
		w.observer = counter
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		began := time.Now()
		var last atomic.Int64
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(jitter(100 * time.Millisecond))
			last.Store(int64(time.Since(began)))
			return done(ctx, c)
		})
		w.settled(time.Minute)
		took := time.Duration(last.Load())
		high, normal := counter.byQueue[w.queues.High.Name()], counter.byQueue[w.queues.Normal.Name()]
		t.Logf("%d tasks in %v: high was asked %d times, normal %d times", counter.got, took, high, normal)
		if counter.got != tasks || normal > tasks/5 || high > 60 { // high: five times a second, then idle
			t.Error("want all, no more than one receive for five tasks, and high asked seldom")
		}
		if bare := tasks / 32 * 100 * time.Millisecond; took > bare*3/2 {
			t.Errorf("the backlog took %v, where %v is the least", took, bare)
		}
	})
}

// High that comes while normal fills all slots is served soon, and at once after a Wake.
func TestHighIsServedSoonBesideABacklog(t *testing.T) {
	for _, wake := range []bool{false, true} {
		t.Run(fmt.Sprintf("wake=%t", wake), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.queues.Normal = &flood{Queue: w.queues.Normal}
				const task = 10 * time.Millisecond
				bound := 200*time.Millisecond + 2*(task+20*time.Millisecond)
				if wake {
					bound -= 200 * time.Millisecond
				}
				var sent time.Time
				var worst, sum time.Duration
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if strings.HasPrefix(c.Task.ID, "urgent") {
						worst = max(worst, time.Since(sent))
						sum += time.Since(sent)
					}
					time.Sleep(task)
					return done(ctx, c)
				})
				for i := range 8 {
					w.settled(jitter(300 * time.Millisecond))
					sent = time.Now()
					w.send(w.queues.High, message(fmt.Sprint("urgent", i), ""))
					if wake {
						w.engine.Wake()
					}
					w.settled(300 * time.Millisecond)
				}
				t.Logf("worst wait %v, mean %v", worst, sum/8)
				if worst == 0 || worst > bound {
					t.Errorf("high waited %v, more than %v", worst, bound)
				}
			})
		})
	}
}
