package webhook

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// round is what one Run knows. Only Run's goroutine touches it; attempts report through done.
type round struct {
	Config
	attempts context.Context // of requests and notes; outlives Run's by the grace
	done     chan finished   // holds as many as can run, so that no attempt waits to report

	running int
	busy    map[string]int // attempts running, by host
	held    []held         // claimed, waiting for a free place at their host

	due     *atomic.Int64 // of the Loop
	counted time.Time     // when it was asked for
	look    bool          // the outbox may hold something due
	next    time.Time     // when to look again at the latest
	backoff time.Duration // after an error of the store; zero: it answered
}

type held struct {
	store.Delivery
	until time.Time // the last moment at which an attempt is sure to be noted within the claim
}

type finished struct {
	host  string
	again time.Duration // until the next attempt at this delivery; zero: none
}

// advance starts what can be started, claims what there is room for, and says how long nothing will be
// to do unless something happens.
func (r *round) advance(ctx context.Context) time.Duration {
	now := time.Now()
	if r.next.IsZero() || !now.Before(r.next) {
		r.look = true
	}
	r.startHeld()
	for r.look && (r.backoff == 0 || !now.Before(r.next)) && r.room() > 0 && ctx.Err() == nil {
		r.claim(ctx)
	}
	if r.room() <= 0 {
		return r.Poll // an attempt that ends makes room before that
	}
	return max(0, time.Until(r.next))
}

// room is how many more deliveries may be claimed: as many as can be sent at once. Held ones don't
// count, for their hosts are left out of the next claims; but there is an end to them too.
func (r *round) room() int {
	if len(r.held) >= 4*r.Concurrency {
		return 0
	}
	return r.Concurrency - r.running
}

// claim asks the outbox once. Hosts that have their share are left out, so that a slow receiver can
// fill its own places only. It leaves look true when there may be more that is due.
func (r *round) claim(ctx context.Context) {
	room := r.room()
	skip := r.full()
	start := time.Now()
	count := start.Sub(r.counted) >= countEvery
	// A claim that is cut off may have been carried out, and would hide its deliveries for a whole lease.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	claimed, err := r.Deliveries.ClaimDeliveries(bounded, store.Claim{
		Worker: r.Worker, Max: room, Lease: r.Lease, SkipHosts: skip, CountDue: count,
	})
	cancel()
	r.look = false
	if err != nil {
		r.stumble(err)
		return
	}
	r.backoff = 0
	r.next = time.Now().Add(spread(r.Poll, 0.25))
	if claimed.Next > 0 {
		r.sooner(claimed.Next)
	}
	if count {
		r.counted = start
		r.due.Store(int64(claimed.Due))
	}
	until := start.Add(r.Lease - r.Timeout - settleBudget)
	for _, d := range claimed.Deliveries {
		r.held = append(r.held, held{d, until})
	}
	r.startHeld()
	r.look = len(claimed.Deliveries) >= room
}

// full lists the hosts that can't be sent more for now.
func (r *round) full() []string {
	var hosts []string
	for name, n := range r.busy {
		if n >= r.PerHost {
			hosts = append(hosts, name)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// stumble puts off the next claim: 1 s at first, twice as long each time, a minute at most.
func (r *round) stumble(err error) {
	r.backoff = min(max(2*r.backoff, time.Second), maxBackoff)
	wait := spread(r.backoff, 0.25)
	r.next = time.Now().Add(wait)
	r.Log.Warn("can't read the webhook outbox, will try again", "error", err, "after", wait.Round(time.Millisecond).String())
}

// sooner brings the next look forward.
func (r *round) sooner(wait time.Duration) {
	if at := time.Now().Add(wait); at.Before(r.next) {
		r.next = at
	}
}

// startHeld starts the held deliveries whose host has a free place. One that was held for too long is
// let go: its claim runs out, and it is claimed anew.
func (r *round) startHeld() {
	now := time.Now()
	r.held = slices.DeleteFunc(r.held, func(c held) bool {
		if now.After(c.until) {
			return true
		}
		name := host(c.URL)
		if r.running >= r.Concurrency || r.busy[name] >= r.PerHost {
			return false
		}
		r.busy[name]++
		r.running++
		go func() { r.done <- r.attempt(name, c.Delivery) }()
		return true
	})
}

// finish takes an ended attempt off the books. What its host had to leave in the outbox may be due.
func (r *round) finish(f finished) {
	if r.busy[f.host] >= r.PerHost {
		r.look = true
	}
	r.running--
	if r.busy[f.host]--; r.busy[f.host] == 0 {
		delete(r.busy, f.host)
	}
	if f.again > 0 {
		r.sooner(f.again)
	}
}

// attempt makes one attempt and notes what came of it.
func (r *round) attempt(name string, d store.Delivery) finished {
	a := r.Sender.Send(r.attempts, d)
	o := outcome(d, a)
	// The note outlives even the grace, each try within its own bound.
	err := settle(context.WithoutCancel(r.attempts), r.Deliveries, o)
	switch {
	case errors.Is(err, store.ErrFenced):
		r.Log.Warn("a webhook's claim ran out before its outcome was noted; it may be sent twice", "delivery", d.ID, "host", name)
		return finished{host: name}
	case err != nil:
		r.Log.Error("can't note a webhook's outcome; it will be sent again", "delivery", d.ID, "host", name, "error", err)
		return finished{host: name, again: r.Lease}
	}
	r.log(d, o, a)
	if r.Observe != nil {
		r.Observe(Observation{Status: o.Status, ResponseStatus: a.Status, Attempt: d.Attempts + 1, Latency: a.Latency})
	}
	return finished{host: name, again: o.NextAfter}
}
