package engine

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// heldUp is how long the store may take for a call of the engine. Such a call is small: one that takes longer was held
// up, even if it was answered in the end. The store's client may hide why: it waits for a connection while all of them
// hang, and replaces one that was cut off.
const heldUp = time.Second

// outages records when the store last failed or held up a call of the engine itself: a begin, a heartbeat, a query for
// cancel requests or a commit. A task whose own call failed at such a time is not to blame.
type outages struct {
	mu    sync.Mutex
	last  time.Time                   // when a call last failed
	good  time.Time                   // when one was last answered
	began time.Time                   // the start of the first call that failed in the last outage
	back  time.Time                   // when the first one after it was answered
	slow  time.Time                   // when one that was held up last ended
	calls map[chan struct{}]time.Time // in flight, with their start; each is closed when its call has ended
}

// call records the start of a call. The returned function records its end, and whether the store failed it.
func (a *outages) call() (over func(failed bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[chan struct{}]time.Time{}
	}
	ended, began := make(chan struct{}), time.Now()
	a.calls[ended] = began
	return func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		now := time.Now()
		switch {
		case failed && !a.good.Before(a.last):
			a.began, a.last = began, now
		case failed:
			a.last = now
		case a.last.After(a.good):
			a.good, a.back = now, now
		default:
			a.good = now
		}
		if now.Sub(began) >= heldUp {
			a.slow = now
		}
		delete(a.calls, ended)
		close(ended)
	}
}

// away is for how long the store had not answered when it did again, less than grace ago, or does not yet; 0: it answers.
func (a *outages) away(grace time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); a.last.After(a.good) || now.Sub(a.back) < grace {
		return now.Sub(a.began)
	}
	return 0
}

// happenedSince reports whether there was an outage after t. It waits for the engine's calls in flight, until each has
// ended or is held up: a store that cuts all connections fails them in the same instant as the task's, and may then
// answer again. held: none failed, but one was held up.
func (a *outages) happenedSince(t time.Time) (failed, held bool) {
	a.mu.Lock()
	calls := maps.Clone(a.calls)
	a.mu.Unlock()
	for _, ended := range slices.SortedFunc(maps.Keys(calls), func(x, y chan struct{}) int {
		return calls[x].Compare(calls[y])
	}) {
		patience := time.NewTimer(time.Until(calls[ended].Add(heldUp)))
		select {
		case <-ended:
		case <-patience.C:
			select {
			case <-ended:
			default:
				held = true
			}
		}
		patience.Stop()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	failed = a.last.After(t)
	return failed, !failed && (held || a.slow.After(t))
}

// seenSince reports whether a call is known to have failed after t.
func (a *outages) seenSince(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.After(t)
}
