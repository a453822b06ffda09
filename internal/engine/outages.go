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
	mu     sync.Mutex
	last   time.Time                   // when a call last failed
	slow   time.Time                   // when one that was held up last ended
	calls  map[chan struct{}]time.Time // in flight, with their start; each is closed when its call has ended
	writes absence
}

// absence is the last outage of the calls that write. A query tells nothing of it: a database that takes no writes
// answers queries, and the leases end in which it renews none.
//
// What fails again within settleTime of its end belongs to it: a database that comes back may refuse the next calls, and
// a call that was sent before hangs for as long.
type absence struct {
	failed   time.Time // when a call last failed
	answered time.Time // when one was last answered
	began    time.Time // the start of the first call that failed
	until    time.Time // what begins to fail up to here belongs to it; zero: none was answered since
	back     time.Time // when the first call after the last failure was answered
	hung     bool      // a call was held up before it failed
}

// ended records the end of a call.
func (w *absence) ended(began, now time.Time, failed bool) {
	switch {
	case failed && !w.answered.Before(w.failed) && began.After(w.until):
		*w = absence{failed: now, answered: w.answered, began: began}
	case failed:
		w.failed = now
	case w.failed.After(w.answered):
		if w.answered, w.back = now, now; w.until.IsZero() {
			w.until = now.Add(settleTime)
		}
	default:
		w.answered = now
	}
	w.hung = w.hung || failed && now.Sub(began) >= heldUp
}

// over records the end of a call: whether the store failed it, or refused the worker, which is not the store's failure,
// and takes no more writes than an outage.
type over func(failed, refused bool)

// call records the start of a call that writes.
func (a *outages) call() over { return a.start(a.writes.ended) }

// query records the start of a call that only reads.
func (a *outages) query() over { return a.start(func(time.Time, time.Time, bool) {}) }

func (a *outages) start(end func(began, now time.Time, failed bool)) over {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[chan struct{}]time.Time{}
	}
	ended, began := make(chan struct{}), time.Now()
	a.calls[ended] = began
	return func(failed, refused bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		now := time.Now()
		if failed {
			a.last = now
		}
		if now.Sub(began) >= heldUp {
			a.slow = now
		}
		end(began, now, failed || refused)
		delete(a.calls, ended)
		close(ended)
	}
}

// away is for how long the store had taken no writes when it did again, or does not yet. It is 0 once it has taken them
// for as long as another worker may need until it tries to commit or to renew again: the pause between two tries and, if
// calls of this worker hung, the time after which one is given up.
func (a *outages) away(pause time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	grace := pause + pause/10 + time.Second // the pause has a jitter of a tenth
	if a.writes.hung {
		grace += settleTime
	}
	if now := time.Now(); a.writes.failed.After(a.writes.answered) || now.Sub(a.writes.back) < grace {
		return now.Sub(a.writes.began)
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
