package engine

import (
	"context"
	"time"

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
