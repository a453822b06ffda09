package webhook

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// round is the state of one Run. Only Run's goroutine uses it; attempts report through done.
type round struct {
	Config
	attempts context.Context // of requests and notes; outlives Run's by the grace
	done     chan finished   // holds as many as can run, so that no attempt waits to report

	running int
	busy    map[string]int  // attempts running, by host
	slow    map[string]bool // hosts whose last attempt took long
	held    []held          // claimed, waiting for a free place at their host

	flying    map[string]store.DeliveryClaim // under way, by id
	extending bool                           // leases are being renewed; kept gets the answer
	kept      chan renewal
	health    *health

	due     *atomic.Int64 // of the Loop
	counted time.Time     // when due was last read
	look    bool          // the outbox may hold something due
	skipped []string      // hosts that the last claim skipped
	next    time.Time     // when to look again at the latest
	failing bool          // the store did not answer the last claim, or this machine lacks something: no claim before next
	waits   *retry.Waits  // between claims that fail
	lacking bool          // this machine lacked something for the last attempt that ended
	lacks   *retry.Waits  // between claims meanwhile
}

type held struct {
	store.Delivery
	until time.Time // when it is released for a worker with a free slot
}

type finished struct {
	delivery store.Delivery
	lacked   error         // what this machine lacked, so that there was no attempt; nil: nothing
	took     time.Duration // by the attempt
	again    time.Duration // until the next attempt at this delivery or its receiver; zero: none
	down     string        // what of the receiver is down; empty: nothing
	look     bool          // others may be due now
}

// advance starts held deliveries, claims as many as there is room for, and returns how long to wait for the next event.
func (r *round) advance(ctx context.Context) time.Duration {
	now := time.Now()
	if r.next.IsZero() || !now.Before(r.next) {
		r.look = true
	}
	r.startHeld()
	r.look = r.look || slices.ContainsFunc(r.skipped, r.takes)
	for r.look && (!r.failing || !now.Before(r.next)) && r.room() > 0 && ctx.Err() == nil {
		r.claim(ctx)
	}
	if r.room() <= 0 {
		return r.Poll // an attempt that ends makes room before that
	}
	return max(0, time.Until(r.next))
}

// room is how many more deliveries may be claimed: as many as can be sent at once. Held ones don't count, because the
// next claim skips their hosts, but their number is limited.
func (r *round) room() int {
	if len(r.held) >= 4*r.Concurrency {
		return 0
	}
	return r.Concurrency - r.running
}

// claim claims once. It skips hosts at their limit, so that a slow receiver can't take the slots of others. It leaves
// look true if more may be due.
func (r *round) claim(ctx context.Context) {
	room := r.room()
	skip := r.full()
	start := time.Now()
	count := start.Sub(r.counted) >= countEvery
	// A claim that is cut off may have been executed, and would hide its deliveries for a whole lease.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	claimed, err := r.Deliveries.ClaimDeliveries(bounded, store.Claim{
		Worker: r.Worker, Max: room, Lease: r.Lease, SkipHosts: skip, CountDue: count,
	})
	cancel()
	r.look, r.skipped = false, skip
	if err != nil {
		r.stumble(err)
		return
	}
	r.failing = false
	r.waits.Reset()
	r.next = time.Now().Add(retry.Jitter(r.Poll, 0.25))
	if claimed.Next > 0 {
		r.sooner(claimed.Next)
	}
	if count {
		r.counted = start
		r.due.Store(int64(claimed.Due))
	}
	until := start.Add(maxHeld)
	for _, d := range claimed.Deliveries {
		r.held = append(r.held, held{d, until})
	}
	r.startHeld()
	r.look = len(claimed.Deliveries) >= room
}

const (
	slowAfter = time.Second // an attempt that takes longer makes its host a slow one
	maxSlow   = 256         // hosts that are remembered as slow
)

// takes reports whether another attempt at a host may start. The last quarter of the places is for hosts that have none,
// so that a few slow receivers can't take all, and for hosts that aren't slow, so that many can't either.
func (r *round) takes(host string) bool {
	free, n, last := r.Concurrency-r.running, r.busy[host], r.Concurrency/4
	if r.slow[host] && r.crawling() >= r.Concurrency-last {
		return false
	}
	return free > 0 && (n == 0 || n < r.PerHost && free > last)
}

// crawling is how many attempts are under way at slow hosts.
func (r *round) crawling() (n int) {
	for name, attempts := range r.busy {
		if r.slow[name] {
			n += attempts
		}
	}
	return n
}

// remember notes whether a host is slow. With too many it begins again: each of them then takes a place once.
func (r *round) remember(host string, took time.Duration) {
	if took <= slowAfter {
		delete(r.slow, host)
		return
	}
	if len(r.slow) >= maxSlow {
		clear(r.slow)
	}
	r.slow[host] = true
}

// full lists the hosts that take no more: of those with attempts under way, and of the slow ones.
func (r *round) full() []string {
	var hosts []string
	for name := range r.busy {
		if !r.takes(name) {
			hosts = append(hosts, name)
		}
	}
	for name := range r.slow {
		if r.busy[name] == 0 && !r.takes(name) {
			hosts = append(hosts, name)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// stumble delays the next claim, by claimWaits.
func (r *round) stumble(err error) {
	r.failing = true
	wait := r.waits.Next()
	r.next = time.Now().Add(wait)
	r.Log.Warn("can't read the webhook outbox, will try again", "error", err, "after",
		wait.Round(time.Millisecond).String())
}

// sooner polls the outbox after wait, if that is earlier than planned.
func (r *round) sooner(wait time.Duration) {
	if at := time.Now().Add(wait); at.Before(r.next) {
		r.next = at
	}
}

// startHeld starts the held deliveries whose host has a free place.
func (r *round) startHeld() {
	now := time.Now()
	r.release(func(h held) bool { return now.After(h.until) })
	r.held = slices.DeleteFunc(r.held, func(c held) bool {
		name := hostKey(c.Delivery)
		if !r.takes(name) {
			return false
		}
		r.busy[name]++
		r.running++
		r.flying[c.ID] = store.DeliveryClaim{ID: c.ID, Fence: c.Fence}
		go func() { r.done <- r.attempt(c.Delivery) }()
		return true
	})
}

// finish removes an ended attempt. Held deliveries for a receiver that is down are released to the outbox.
func (r *round) finish(f finished) {
	name := hostKey(f.delivery)
	r.look = r.look || f.look
	r.running--
	delete(r.flying, f.delivery.ID)
	if r.busy[name]--; r.busy[name] == 0 {
		delete(r.busy, name)
	}
	if r.judge(f) {
		return
	}
	r.remember(name, f.took)
	if f.again > 0 {
		r.sooner(f.again)
	}
	if f.down != "" {
		r.release(func(h held) bool {
			return hostKey(h.Delivery) == name && (f.down == store.HostDown || pathOf(h.URL) == pathOf(f.delivery.URL))
		})
	}
}

// attempt makes one attempt and notes what came of it.
func (r *round) attempt(d store.Delivery) finished {
	a := r.Sender.Send(r.attempts, d)
	if a.short() {
		return finished{delivery: d, lacked: a.Err}
	}
	o := outcome(d, a)
	o.Down = r.health.judge(d, a)
	// The note outlives even the grace, each try within its own bound.
	is, err := settle(context.WithoutCancel(r.attempts), r.Deliveries, o)
	switch {
	case errors.Is(err, store.ErrFenced):
		r.Log.Warn("a webhook's claim ran out before its outcome was noted; it may be sent twice", "delivery", d.ID,
			"host", host(d.URL))
		return finished{delivery: d, took: a.Latency}
	case err != nil:
		r.Log.Error("can't note a webhook's outcome; it will be sent again", "delivery", d.ID, "host", host(d.URL),
			"error", err, "hint", "check that the database runs, its address in the settings, and the network")
		return finished{delivery: d, took: a.Latency, again: r.Lease}
	}
	if is.Status != "" { // a store of the version before says nothing
		o.Status = is.Status
	}
	r.log(d, o, a, is)
	if r.Observe != nil {
		status := o.Status
		if d.Once && status == store.DeliveryFailed {
			status = Missed
		}
		r.Observe(Observation{Status: status, ResponseStatus: a.Status, Attempt: d.Attempts + 1, Latency: a.Latency})
	}
	f := finished{delivery: d, took: a.Latency, look: is.Ended}
	switch {
	case is.Down:
		f.down, f.again = o.Down, is.Probe
	case o.Status == store.DeliveryPending:
		f.again = o.NextAfter
	}
	return f
}
