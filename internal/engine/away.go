package engine

import (
	"sync"
	"time"
)

// absence remembers when the store last failed the engine itself: a begin, a heartbeat or a commit. A task
// whose own call to the store failed at such a time is not to blame for it.
type absence struct {
	mu   sync.Mutex
	last time.Time
}

func (a *absence) noted() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = time.Now()
}

// since says whether the store was away at some time after t.
func (a *absence) since(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.After(t)
}
