package app

import (
	"context"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	// restAfterStart is when the start has finished and its connections are open.
	restAfterStart = 5 * time.Second
	// restAfterTasks is how long a worker waits after its last task: memory that the next task would need at once is
	// not released.
	restAfterTasks = time.Minute
)

// rest is an Observer that knows when the worker is idle: some seconds after its start, and each time when it has had
// no task for a minute. While the worker is idle, rest wakes nothing.
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
func (r *rest) Started(t task.Type, attempt int) {
	r.mu.Lock()
	r.running++
	r.mu.Unlock()
	r.Observer.Started(t, attempt)
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

// due reports whether no task runs now that the timer has fired; otherwise the last task to end sets it again.
func (r *rest) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running == 0
}

// run calls idle whenever the worker becomes idle, until ctx is done, and busy if there are tasks when its start has
// finished.
func (r *rest) run(ctx context.Context, idle, busy func()) {
	defer r.timer.Stop()
	for start := true; ; start = false {
		select {
		case <-ctx.Done():
			return
		case <-r.timer.C:
			if r.due() {
				idle()
			} else if start {
				busy()
			}
		}
	}
}
