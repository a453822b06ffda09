package engine

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// outages records when the store last failed a call of the engine itself: a begin, a heartbeat, a query for cancel
// requests or a commit. A task whose own call failed at such a time is not to blame.
type outages struct {
	mu    sync.Mutex
	last  time.Time
	calls map[chan struct{}]struct{} // in flight; each is closed when its call has ended
}

// call records the start of a call. The returned function records its end, and whether the store failed it.
func (a *outages) call() (over func(failed bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[chan struct{}]struct{}{}
	}
	ended := make(chan struct{})
	a.calls[ended] = struct{}{}
	return func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if failed {
			a.last = time.Now()
		}
		delete(a.calls, ended)
		close(ended)
	}
}

// happenedSince reports whether there was an outage after t. It waits for the engine's calls in flight, for at most
// probeTime: a store that cuts all connections fails them in the same instant as the task's, and may then answer again.
func (a *outages) happenedSince(t time.Time) bool {
	a.mu.Lock()
	calls := slices.Collect(maps.Keys(a.calls))
	a.mu.Unlock()
	patience := time.NewTimer(probeTime)
	defer patience.Stop()
	for _, ended := range calls {
		if a.seenSince(t) {
			return true
		}
		select {
		case <-ended:
		case <-patience.C:
			return a.seenSince(t)
		}
	}
	return a.seenSince(t)
}

// seenSince reports whether a call is known to have failed after t.
func (a *outages) seenSince(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.After(t)
}
