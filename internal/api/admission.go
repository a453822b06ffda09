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
	looks *queueCalls // one at a time

	mu   sync.Mutex
	at   time.Time
	last map[task.Priority]int
}

func newDepth(q func(task.Priority) queue.Queue, looks *queueCalls) *depth {
	return &depth{queue: q, looks: looks, last: map[task.Priority]int{}}
}

// get returns about how many messages wait, over all priorities. Of a queue that does not answer it is the last number:
// a job is recorded before its message is sent.
func (d *depth) get(ctx context.Context) (total int) {
	if d.old() {
		d.looks.do(ctx, depthLimit, d.look)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.last {
		total += n
	}
	return total
}

// old reports whether the numbers are to be taken again.
func (d *depth) old() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at.IsZero() || time.Since(d.at) >= depthEvery
}

// look takes the numbers, unless another request just did.
func (d *depth) look(ctx context.Context) {
	if !d.old() {
		return
	}
	for _, p := range []task.Priority{task.PriorityHigh, task.PriorityNormal, task.PriorityLow} {
		if n, err := d.queue(p).Depth(ctx); err == nil {
			d.mu.Lock()
			d.last[p] = n
			d.mu.Unlock()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Now()
}

// admit refuses a job while the queues are full: above the mark.
func (a *API) admit(ctx context.Context) error {
	if a.depth.get(ctx) <= a.deps.HighWatermark {
		return nil
	}
	return overload("too many jobs wait; try again later", 2*depthEvery)
}

func overload(detail string, retryAfter time.Duration) *Problem {
	p := problem(http.StatusServiceUnavailable, codeOverloaded, detail)
	p.retryAfter = retryAfter
	return p
}
