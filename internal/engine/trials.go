package engine

import "time"

// trialTime is for how long a job tries a service before another one may try it, too. It is longer than a call of a
// service: a job that has run for so long has probably found the service up, but shows that only at its end, and a large
// document takes an hour.
const trialTime = 90 * time.Second

// trials are the jobs that try a service whose circuit breaker is half-open.
type trials struct {
	jobs map[string]bool
	last time.Time // when the last of them began
}

// full reports whether no further job may try the service now. A suspect tries it only when no other does, so that
// it is not blamed for another.
func (t *trials) full(suspect bool) bool {
	return len(t.jobs) > 0 && (suspect || time.Since(t.last) <= trialTime)
}

func (t *trials) begin(id string) {
	if t.jobs == nil {
		t.jobs = map[string]bool{}
	}
	t.jobs[id], t.last = true, time.Now()
}

func (t *trials) has(id string) bool { return t.jobs[id] }

func (t *trials) end(id string) { delete(t.jobs, id) }

// endAll forgets the trials, as the breaker opens or closes: what still runs belongs to the time before.
func (t *trials) endAll() { clear(t.jobs) }
