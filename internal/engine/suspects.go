package engine

import (
	"maps"
	"time"
)

// suspicion counts how often a job failed just when the service went down, and when it last did.
type suspicion struct {
	times int
	at    time.Time
}

// downAfter reports whether the service was down at any time after t: a failure of an attempt that began then belongs
// to the outage, even when it comes after the end of it. mu is held.
func (c *circuit) downAfter(t time.Time) bool {
	return t.Before(c.recovered) || c.state == open && t.Before(c.since)
}

// blames is fails for a job when it is only now known that the service was down.
func (c *circuit) blames(id string) verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spare(id)
}

// spare returns the verdict on a job that failed when the service went down; mu is held.
func (c *circuit) spare(id string) verdict {
	s := c.suspects[id]
	if s.times >= suspectAfter && c.up.After(s.at) {
		return blamed
	}
	return spared
}

// suspect records that a job which failed when the service went down was released uncounted. One that could not be
// released is counted, as a lost worker's.
func (c *circuit) suspect(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(c.suspects, func(_ string, s suspicion) bool { return now.Sub(s.at) > suspectFor })
	c.suspects[id] = suspicion{c.suspects[id].times + 1, now}
}

// released reports whether the job was released because of the service, and has not succeeded since.
func (c *circuit) released(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspects[id].times > 0
}

// forget is called when a job has ended.
func (c *circuit) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.suspects, id)
}
