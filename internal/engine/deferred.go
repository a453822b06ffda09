package engine

import (
	"maps"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	// backlogMost is the longest pause, without its jitter, of a message in a long backlog of a type at its limit.
	backlogMost = 15 * time.Minute
	// deferredFor is how long after its return a message that did not come is remembered.
	deferredFor = time.Hour
	// mostDeferred is how many messages that have not begun are remembered. Of more, those received before count as begun.
	mostDeferred = 100_000
)

// deferred are the messages that this worker has put back at the limit of their type, or after an attempt, by the ids of their
// jobs.
type deferred struct {
	mu    sync.Mutex
	by    map[string]putBack
	swept time.Time // when overdue entries were last removed
}

// putBack is what is known of a message that was put back.
type putBack struct {
	begun bool      // its task ran, here or on another worker
	place bool      // it waits for a place of its type
	back  time.Time // when it comes back
}

// begun reports whether a message's task may have begun: it did here, or the message was received before and this worker does
// not know why. Once it has deferred such a message, that is what it knows: on the queue it most likely was in the backlog.
func (d *deferred) begun(a *attempt) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, known := d.by[a.task.ID]; known {
		return last.begun
	}
	return a.msg.DequeueCount > 1
}

// put records that a job's message comes back after wait. begun: its task has begun; it may have before in any case.
func (d *deferred) put(id string, begun bool, wait time.Duration) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.swept) > time.Minute {
		maps.DeleteFunc(d.by, func(_ string, p putBack) bool { return now.Sub(p.back) > deferredFor })
		d.swept = now
	}
	last, known := d.by[id]
	if !known && !begun && len(d.by) >= mostDeferred {
		return
	}
	d.by[id] = putBack{begun: begun || last.begun, place: !begun, back: now.Add(wait)}
}

// waits reports whether this worker knows that a job's message waits for a place of its type, and is not overdue. Another
// worker may have received it since.
func (d *deferred) waits(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.by[id]
	return last.place && time.Since(last.back) < overdue.StalledFor
}

// ended is called when an admitted message was settled.
func (d *deferred) ended(a *attempt) {
	if a.wait > 0 || a.begun.Ran {
		d.put(a.task.ID, true, a.wait)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.by, a.task.ID)
}

// backlogPause is the longest pause of a message whose type is at its limit. Only those that wait in a backlog of normal and
// low for their first attempt leave the queue to others for longer: what is urgent or has begun must not go behind all of them,
// and what expires must be replaced before (I1).
func (e *Engine) backlogPause(a *attempt) time.Duration {
	if e.priorityOf(a.queue.Name()) == task.PriorityHigh || e.deferred.begun(a) {
		return urgentMost
	}
	most := backlogMost
	if expires := a.msg.ExpiresAt; !expires.IsZero() {
		most = min(most, time.Until(expires)-expiryMargin)
	}
	return max(most, urgentMost)
}
