package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	depthEvery = 5 * time.Second // between two looks at the queues, however many submit
	depthLimit = 5 * time.Second // for one look
)

// depth measures the queues seldom.
type depth struct {
	queue func(task.Priority) queue.Queue

	mu   sync.Mutex // held while measuring, so that others wait for that
	at   time.Time
	last map[task.Priority]int
}

func newDepth(q func(task.Priority) queue.Queue) *depth {
	return &depth{queue: q, last: map[task.Priority]int{}}
}

// get returns about how many messages wait, over all priorities. Of a queue that does not answer it is the last number:
// a job is recorded before its message is sent.
func (d *depth) get(ctx context.Context) (total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || time.Since(d.at) >= depthEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), depthLimit)
		defer cancel()
		for _, p := range []task.Priority{task.PriorityHigh, task.PriorityNormal, task.PriorityLow} {
			if n, err := d.queue(p).Depth(ctx); err == nil {
				d.last[p] = n
			}
		}
		d.at = time.Now()
	}
	for _, n := range d.last {
		total += n
	}
	return total
}

// admit refuses a job while the queues are full: above the mark.
func (a *API) admit(ctx context.Context) error {
	if a.depth.get(ctx) <= a.deps.HighWatermark {
		return nil
	}
	p := problem(http.StatusServiceUnavailable, "QUEUE_OVERLOADED", "too many jobs wait; try again later")
	p.retryAfter = 2 * depthEvery
	return p
}
