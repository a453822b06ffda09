package engine

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Probe asks a service whether it is up, by something small that bears nobody's document and is as much like the work
// as can be: what answers a probe, and fails at each task, is believed for breakerDoubts jobs.
type Probe func(ctx context.Context) error

// Probes are by what they ask.
type Probes map[taskerr.Dependency]Probe

// question is a probe that is under way.
type question struct {
	at   time.Time
	over chan struct{}
	up   bool // once it is over
}

// ask probes the service, and says whether it is up. Those who ask at the same time share an answer, unless it was
// asked for before the given time: then it may be of before what they want to know. mu is held, but not while the
// answer is waited for.
func (c *circuit) ask(ctx context.Context, since time.Time) (up bool) {
	for c.asking != nil {
		q := c.asking
		c.mu.Unlock()
		<-q.over
		c.mu.Lock()
		if !q.at.Before(since) {
			return q.up
		}
	}
	q := &question{at: time.Now(), over: make(chan struct{})}
	c.asking = q
	probe := c.probe()
	c.mu.Unlock()
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	_, err := safely(c.log, func() (struct{}, error) { return struct{}{}, probe(bounded) })
	done()
	c.mu.Lock()
	if q.up = err == nil; q.up {
		c.up = q.at
	}
	c.asking = nil
	close(q.over)
	return q.up
}
