package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// delays records for how long the messages of each job were hidden when they were released.
type delays struct {
	queue.Queue
	mu sync.Mutex
	by map[string][]time.Duration
}

func (q *delays) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	got, err := q.Queue.Receive(ctx, n, visibility)
	for _, m := range got {
		m.Lease = delayedLease{m.Lease, q, m.Text}
	}
	return got, err
}

type delayedLease struct {
	queue.Lease
	q    *delays
	text string
}

func (l delayedLease) Release(ctx context.Context, delay time.Duration) error {
	var m struct {
		ID string `json:"task_id"`
	}
	if err := json.Unmarshal([]byte(l.text), &m); err != nil {
		return err
	}
	l.q.mu.Lock()
	l.q.by[m.ID] = append(l.q.by[m.ID], delay)
	l.q.mu.Unlock()
	return l.Lease.Release(ctx, delay)
}

// A message that is urgent, was begun, or may have been begun by another worker, does not go behind a long backlog of its type: it
// comes back within about a minute.
func TestLongBacklogIsBehindOthers(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		high := &delays{Queue: w.queues.High, by: map[string][]time.Duration{}}
		normal := &delays{Queue: w.queues.Normal, by: map[string][]time.Duration{}}
		w.queues.High, w.queues.Normal = high, normal
		w.send(w.queues.Normal, message("recovered", ""))
		if got, err := w.queues.Normal.Receive(t.Context(), 1, 2*time.Minute); err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		var failed atomic.Bool
		w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "retried" && failed.CompareAndSwap(false, true) {
				return handlers.Outcome{}, &taskerr.Error{Class: taskerr.AIRateLimit, RetryAfter: 2 * time.Minute}
			}
			return work(20*time.Minute, done)(ctx, c)
		}})
		w.send(w.queues.Normal, message("retried", ""))
		w.settled(10 * time.Second)
		for i := range 1200 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(100 * time.Second)
		w.send(w.queues.High, message("urgent", `,"priority":"high"`))
		w.settled(9 * time.Minute)

		high.mu.Lock()
		defer high.mu.Unlock()
		normal.mu.Lock()
		defer normal.mu.Unlock()
		by := normal.by
		by["urgent"] = high.by["urgent"]
		by["retried"] = by["retried"][min(1, len(by["retried"])):]       // after its retry
		by["recovered"] = by["recovered"][:min(1, len(by["recovered"]))] // later it counts as one of the backlog
		for _, id := range []string{"retried", "recovered", "urgent"} {
			if len(by[id]) == 0 {
				t.Errorf("%s was not deferred", id)
			}
			for _, d := range by[id] {
				if d > 70*time.Second {
					t.Errorf("%s was hidden for %v", id, d)
				}
			}
		}
		if last := by["t1199"]; len(last) == 0 || last[0] < 2*time.Minute {
			t.Errorf("the last one of the backlog was hidden for %v", last)
		}
	})
}
