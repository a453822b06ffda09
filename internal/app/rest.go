package app

import (
	"context"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	// restAfterStart is when the start is over, and what it has connected is.
	restAfterStart = 5 * time.Second
	// restAfterTasks is how long a worker that had work has none until it rests: what the next task would use again at
	// once isn't given back.
	restAfterTasks = time.Minute
)

// rest is an Observer that knows when the worker comes to rest: some seconds after its start, and each time that it has
// had no task for a minute. While it rests, nothing wakes it.
type rest struct {
	engine.Observer
	timer *time.Timer

	mu      sync.Mutex
	running int // attempts
}

func newRest(o engine.Observer) *rest {
	return &rest{Observer: o, timer: time.NewTimer(restAfterStart)}
}

// Started implements engine.Observer.
func (r *rest) Started(t task.Type, attempt int, waited time.Duration) {
	r.mu.Lock()
	r.running++
	r.mu.Unlock()
	r.Observer.Started(t, attempt, waited)
}

// Ended implements engine.Observer.
func (r *rest) Ended(t task.Type, e engine.Ending) {
	r.mu.Lock()
	if r.running--; r.running == 0 {
		r.timer.Reset(restAfterTasks)
	}
	r.mu.Unlock()
	r.Observer.Ended(t, e)
}

// due says whether no task runs now that the timer has run out; the last of them that do sets it again.
func (r *rest) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running == 0
}

// run calls do whenever the worker comes to rest, until ctx is done.
func (r *rest) run(ctx context.Context, do func()) {
	defer r.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.timer.C:
			if r.due() {
				do()
			}
		}
	}
}
