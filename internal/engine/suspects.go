package engine

import (
	"maps"
	"time"
)

// suspicion is how often a job failed just when the service went down, and when it last did.
type suspicion struct {
	times int
	at    time.Time
}

// downAfter says whether the service was down at some time after t: the failure of an attempt that began then is of the
// outage, also when it comes only after its end.
func (c *circuit) downAfter(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Before(c.recovered) || c.state == open && t.Before(c.since)
}

// blames is fails for a job of which only now it is known that the service was down.
func (c *circuit) blames(id string) verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spare(id)
}

// spare says whether a job is to blame that failed when the service went down; mu is held.
func (c *circuit) spare(id string) verdict {
	s := c.suspects[id]
	if s.times >= suspectAfter && c.up.After(s.at) {
		return blamed
	}
	return spared
}

// suspect notes that a job was given back uncounted which failed when the service went down. One that could not be
// given back is counted, as a lost worker's.
func (c *circuit) suspect(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(c.suspects, func(_ string, s suspicion) bool { return now.Sub(s.at) > suspectFor })
	c.suspects[id] = suspicion{c.suspects[id].times + 1, now}
}

// forget is for a job that is over.
func (c *circuit) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.suspects, id)
}
