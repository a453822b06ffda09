package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// slowBegin and quickBegin are the moving averages of begin's duration above which the store counts as slow, and
	// below which it counts as quick again.
	slowBegin  = 500 * time.Millisecond
	quickBegin = 250 * time.Millisecond
	// slowFactor times the average above quickBegin is the wait between polls while the store is slow.
	slowFactor = 4
	// longestBegin is what a longer duration counts as: a single one is soon forgotten.
	longestBegin = 4 * time.Second
	// beginWeight is the share of the newest duration in the moving average, as a divisor.
	beginWeight = 4
)

// storeThrottle slows polling down while the store, or what a message needs before it can be begun, fails or is slow. A
// failure doubles the wait, one success ends it; slow answers lengthen it in proportion. The wait is longest at most,
// so that the end of the trouble is seen.
type storeThrottle struct {
	log *slog.Logger

	mu      sync.Mutex
	longest time.Duration
	backoff time.Duration
	until   time.Time     // the end of that wait: failures before it have the same cause as the one that began it
	trouble *Trouble      // nil: there is none
	fails   time.Time     // when a message or an outcome last had to wait
	took    time.Time     // the last success
	average time.Duration // exponential moving average of begin's duration; zero: there was none
	slow    bool
}

func (t *storeThrottle) setLongest(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.longest = d
}

// failed notes a failure and returns how long its message should wait.
func (t *storeThrottle) failed(class taskerr.Class, hint string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.trouble, t.fails = t.trouble.again(now, class, hint), now
	if !now.Before(t.until) {
		t.backoff = min(max(2*t.backoff, time.Second), max(t.longest, time.Second))
		t.until = now.Add(t.backoff)
	}
	return t.backoff
}

// refused notes that an outcome is kept because the store does not take it, if it has taken nothing else since. Nothing has
// to wait for that: who keeps it has no slot for another task.
func (t *storeThrottle) refused(since time.Time, class taskerr.Class, hint string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.took.After(since) {
		return
	}
	now := time.Now()
	t.trouble, t.fails = t.trouble.again(now, class, hint), now
}

// swept notes the result of a query that the sweep sent at the given time: an idle worker has no message that would show
// an outage, or its end. Nothing has to wait because a query failed. One that succeeded does not end a trouble for which
// messages or outcomes still wait: a store that takes no writes may answer queries. Then again is when to query once
// more.
func (t *storeThrottle) swept(since time.Time, failure *taskerr.Error) (again time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch quiet := t.fails.Add(2 * (max(t.longest, time.Second) + settleTime)); {
	case failure != nil && !t.took.After(since):
		t.trouble = t.trouble.again(now, failure.Class, helpOf(failure))
	case failure != nil || t.trouble == nil:
	case now.Before(quiet): // whatever waits here is tried once more by then
		return quiet
	default:
		t.reset()
	}
	return time.Time{}
}

// succeeded notes a success.
func (t *storeThrottle) succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reset()
	t.took = time.Now()
}

// reset ends the wait after failures, and logs that they are over; mu is held.
func (t *storeThrottle) reset() {
	if t.trouble != nil {
		t.log.Info("the store answers again", "after", time.Since(t.trouble.Since).Round(time.Second))
	}
	t.trouble, t.backoff, t.until = nil, 0, time.Time{}
}

// began notes that a begin succeeded, and how long it took.
func (t *storeThrottle) began(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reset()
	t.took = time.Now()
	t.average += (min(took, longestBegin) - t.average) / beginWeight
	switch {
	case !t.slow && t.average > slowBegin:
		t.slow = true
		t.log.Warn("the database answers slowly: new tasks are taken less often until it is quick again; look at "+
			"its load, "+
			"at locks (pg_stat_activity) and at the network to it", "average_ms", t.average.Milliseconds(),
			"slow_above_ms", slowBegin.Milliseconds())
	case t.slow && t.average < quickBegin:
		t.slow = false
		t.log.Info("the database is quick again", "average_ms", t.average.Milliseconds())
	}
}

// wait is the shortest wait between two polls for now.
func (t *storeThrottle) wait() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.slow {
		return t.backoff
	}
	return max(t.backoff, min(slowFactor*(t.average-quickBegin), t.longest))
}

// health says since when the store has been failing; nil: it has not.
func (t *storeThrottle) health() *StoreHealth {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trouble == nil {
		return nil
	}
	return &StoreHealth{Trouble: *t.trouble, Wait: t.backoff}
}
