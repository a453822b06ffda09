package webhook

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

const (
	minHold      = time.Second     // after a 429 without a Retry-After
	maxHold      = 5 * time.Minute // the answer was to one URL, and others wait for the same host
	maxThrottled = 1000            // hosts that are remembered
)

// throttle is the state of a host that answered 429: what goes there meanwhile costs attempts.
type throttle struct {
	until time.Time // when something is sent there again
	calm  time.Time // when more than one at a time is
}

// hold is how long nothing is to be sent to the host after an answer; zero: it does not ask for that.
func (a Attempt) hold() time.Duration {
	if a.Status != http.StatusTooManyRequests {
		return 0
	}
	return min(max(a.RetryAfter, minHold), maxHold)
}

// throttle holds a host back, and after that lets one at a time go there for as long again. With too many hosts it
// begins again.
func (r *round) throttle(host string, hold time.Duration) {
	now := time.Now()
	maps.DeleteFunc(r.throttled, func(_ string, t throttle) bool { return now.After(t.calm) })
	if len(r.throttled) >= maxThrottled {
		clear(r.throttled)
	}
	if t := (throttle{now.Add(hold), now.Add(2 * hold)}); t.until.After(r.throttled[host].until) {
		r.throttled[host] = t
	}
	r.release(func(h held) bool { return hostKey(h.Delivery) == host })
	r.sooner(hold)
}

// heldBack lists the hosts to which nothing is to be sent now. first is when the first of them may get something; zero:
// there is none.
func (r *round) heldBack() (hosts []string, first time.Time) {
	now := time.Now()
	for host, t := range r.throttled {
		if !now.Before(t.until) {
			continue
		}
		hosts = append(hosts, host)
		if first.IsZero() || t.until.Before(first) {
			first = t.until
		}
	}
	slices.Sort(hosts)
	return hosts, first
}
