package engine

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// absence remembers when the store last failed the engine itself: a begin, a heartbeat, a question for cancel requests
// or a commit. A task whose own call to the store failed at such a time is not to blame for it.
type absence struct {
	mu    sync.Mutex
	last  time.Time
	calls map[chan struct{}]struct{} // of the engine, under way; each is closed when it is over
}

// call is to be called when a call of the engine begins; what it returns, when it is over, and says whether the store
// failed it.
func (a *absence) call() (over func(failed bool)) {
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

// since says whether the store was away at some time after t. The engine's calls that are under way are waited for,
// for probeTime at most: a store that cuts all connections fails them in the same instant as the task that asks, and
// may answer again at once.
func (a *absence) since(t time.Time) bool {
	a.mu.Lock()
	calls := slices.Collect(maps.Keys(a.calls))
	a.mu.Unlock()
	patience := time.NewTimer(probeTime)
	defer patience.Stop()
	for _, ended := range calls {
		if a.noted(t) {
			return true
		}
		select {
		case <-ended:
		case <-patience.C:
			return a.noted(t)
		}
	}
	return a.noted(t)
}

// noted says whether a call failed after t.
func (a *absence) noted(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.After(t)
}
