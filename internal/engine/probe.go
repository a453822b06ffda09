package engine

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Probe checks whether a service is up, by a small request that carries no document and resembles the real work: a
// service whose probe succeeds while every task fails is trusted for breakerDoubts jobs.
type Probe func(ctx context.Context) error

// Probes are the probes by dependency.
type Probes map[taskerr.Dependency]Probe

// probeCall is a probe in flight.
type probeCall struct {
	at   time.Time
	over chan struct{}
	up   bool // set before done is closed
}

// runProbe probes the service and reports whether it is up. Concurrent callers share a probe, unless it was started
// before since: then its answer may be older than what they want to know. mu is held, except during the probe.
func (c *circuit) runProbe(ctx context.Context, since time.Time) (up bool) {
	for c.inFlight != nil {
		q := c.inFlight
		c.mu.Unlock()
		<-q.over
		c.mu.Lock()
		if !q.at.Before(since) {
			return q.up
		}
	}
	q := &probeCall{at: time.Now(), over: make(chan struct{})}
	c.inFlight = q
	probe := c.probe()
	c.mu.Unlock()
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	_, err := safely(c.log, func() (struct{}, error) { return struct{}{}, probe(bounded) })
	done()
	c.mu.Lock()
	if q.up = err == nil; q.up {
		c.up = q.at
	}
	c.inFlight = nil
	close(q.over)
	return q.up
}

// probeFirst probes a service that nobody has heard of for a while, before a task is started: its call may be expensive,
// and the task is not even begun when the service is down. mu is held, except during the probe.
func (c *circuit) probeFirst(ctx context.Context) {
	age := c.first()
	if c.state != closed || age <= 0 || !c.probeDecides() || time.Since(c.up) < age {
		return
	}
	if !c.runProbe(ctx, time.Now().Add(-age)) {
		c.trip()
	}
}

// tryAgain probes the service after a pause; without a probe a job has to try it. mu is held, except during the probe.
func (c *circuit) tryAgain(ctx context.Context) {
	if !c.probeDecides() {
		c.state = halfOpen
		return
	}
	if c.runProbe(ctx, time.Now()) {
		c.close()
	} else {
		c.trip()
	}
}

// idleProbe is for how long a breaker waits for a task after its pause, until the worker probes the service without
// one: another worker may have done what waited here, and nothing else would close the breaker.
const idleProbe = time.Minute

// loop probes the services that are down and that no task tries, until ctx is done.
func (b *breakers) loop(ctx context.Context) {
	for retry.Sleep(ctx, idleProbe) == nil {
		for _, c := range b.circuits() {
			c.tryIdle(ctx)
		}
	}
}

// tryIdle probes the service if its pause ended a while ago and no task has tried it since.
func (c *circuit) tryIdle(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open && c.probeDecides() && c.inFlight == nil && time.Since(c.until) >= idleProbe {
		c.tryAgain(ctx)
	}
}
