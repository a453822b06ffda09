package schedule

import (
	"hash/fnv"
	"time"
)

// lateness is how late a firing may be and still be on time, at most half of the time to the one that follows: a
// restart of the worker or of the database. What is later was missed.
const lateness = 5 * time.Minute

// lookBack bounds for how long what was missed is counted.
const lookBack = 366 * 24 * time.Hour

// plan is what is to be done about a schedule that is due.
type plan struct {
	now    time.Time   // the firing that is due; zero: none is
	owed   []time.Time // missed ones that are to be made up, the oldest first
	missed int         // those that are not made up
	next   time.Time   // the first that is not due yet; zero: there is none
}

// planOf decides about a schedule whose next firing is due at next. owed are firings that it still has to make up, of
// which it keeps catchUp at most, the newest.
func planOf(c Calendar, next, now time.Time, owed []time.Time, catchUp int, jitter func(time.Time) time.Duration) plan {
	p := plan{owed: append([]time.Time(nil), owed...)}
	if first := now.Add(-lookBack); next.Before(first) {
		next = c.Next(first)
	}
	// A distance of a second over a year is millions of firings: those that can be neither on time nor made up are counted
	// without a look at each.
	if c.every > 0 {
		late := now.Add(-MaxJitter - lateness).Sub(next)
		if gone := int(late/c.every) - catchUp - 1; gone > 0 {
			next = next.Add(time.Duration(gone * int(c.every)))
			p.missed = gone
		}
	}
	drop := func() {
		for len(p.owed) > catchUp {
			p.owed = p.owed[1:]
			p.missed++
		}
	}
	for !next.IsZero() && !next.Add(jitter(next)).After(now) {
		following := c.Next(next)
		allowed := lateness
		if half := following.Sub(next) / 2; !following.IsZero() && half < allowed {
			allowed = half
		}
		if now.Sub(next.Add(jitter(next))) <= allowed {
			p.now = next
		} else {
			p.owed = append(p.owed, next.UTC())
			drop()
		}
		next = following
	}
	drop()
	p.next = next
	return p
}

// Jitter spreads the firings of many schedules: the delay of one firing, from zero to most, and to half of the time to
// the one that follows, so that no firing is delayed past it. It is the same on every worker.
func (c Calendar) Jitter(client, id string, at time.Time, most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	if following := c.Next(at); !following.IsZero() {
		most = min(most, following.Sub(at)/2)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(client + "/" + id + "/" + at.UTC().Format(time.RFC3339))) // never fails
	return time.Duration(h.Sum64() % uint64(most.Milliseconds()+1) * uint64(time.Millisecond))
}
