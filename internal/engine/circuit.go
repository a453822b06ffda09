package engine

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The states of a circuit breaker. Source: Michael Nygard, "Release It!", 2007.
const (
	closed   = "closed"    // the service is up
	open     = "open"      // it is down: no task that needs it is started
	halfOpen = "half-open" // a task tries it; another one does if that takes long
)

const (
	// breakerTrips is how many different jobs in a row must fail before a service without a probe counts as down.
	// Failures of one job alone are never evidence: that job may bring the service down.
	breakerTrips = 3
	// breakerDoubts is how many different jobs in a row must fail before a service counts as down although its probe
	// succeeds: the probe does not cover what the tasks need.
	breakerDoubts = 10
	// breakerPause is the longest pause of an open breaker; Config.PollMax is another bound.
	breakerPause = 15 * time.Second
	// Without a probe, jobs try the service, and the longest pause grows with the outage: to a fraction of it, and to a
	// multiple of itself at most. Otherwise a job that takes the service down at each try, for longer than a pause,
	// would leave the others no time in which it is up.
	breakerPart, breakerGrowth = 8, 20
	// probePause is the first pause of a service that can be probed; it doubles up to the longest.
	probePause = time.Second
	// probeTime is the timeout of a probe.
	probeTime = 10 * time.Second
	// breakerMargin is how much earlier than the end of its pause a breaker admits a job: waiting messages are hidden
	// for whole seconds, and should find it ready.
	breakerMargin = 100 * time.Millisecond
	// suspectAfter is how many times a job may fail just when the service goes down. From then on suspects run one at
	// a time, and the attempt counts when the service goes down again.
	suspectAfter = 2
	// suspectFor is how long a suspicion is remembered.
	suspectFor = 24 * time.Hour
	// More than crowdSize waiting messages come back spread out, one second for each batch of as many as there are
	// slots. That is half as fast as they can be received and deferred, so that other messages are still found.
	crowdSize = 50
	crowdMost = time.Hour
)

// circuit is the circuit breaker of one dependency. It distinguishes a service that is down from a task that fails by
// itself, or that brings the service down:
//
//   - A service with a probe is down when the probe fails. One failure of a task triggers the probe. When the probe
//     succeeds, the failure is the task's own, and is counted.
//   - A service without a probe is down when breakerTrips different jobs failed in a row. Then one job at a time, each
//     time a different one, tries whether it is up again; beside one that takes longer than trialTime, another does.
//   - A job that failed suspectAfter times just when the service went down, and does so again after it was up, brings
//     it down: the attempt is counted. Such suspects run one at a time, so that none is blamed for another.
type circuit struct {
	of     taskerr.Dependency
	probe  func() Probe         // returns nil: no probe
	first  func() time.Duration // Config.ProbeFirst
	most   time.Duration        // the longest pause
	slots  func() int           // of the worker
	closes func()               // called when it closes; must not block
	log    *slog.Logger

	mu        sync.Mutex
	needed    bool // some task has needed it
	state     string
	since     time.Time       // start of the current state: of the outage, or of the recovery
	recovered time.Time       // when it last closed after an outage; zero: never
	until     time.Time       // open: admits nothing before
	pause     time.Duration   // the last one
	failed    map[string]bool // jobs since the last success
	doubted   bool            // its probe succeeds, but all tasks fail
	trials    trials          // half-open
	alone     string          // the suspect that is running; empty: none
	up        time.Time       // when the service was last known to be up
	trouble   *Trouble        // the last failure; nil: none
	suspects  map[string]suspicion
	waiting   map[string]time.Time // when the messages of deferred jobs come back
	swept     time.Time            // when overdue entries were last removed from waiting
	inFlight  *probeCall           // the probe in flight; nil: none
}

// probeDecides reports whether the result of a probe counts; mu is held.
func (c *circuit) probeDecides() bool { return c.probe() != nil && !c.doubted }

// enter admits a job, or returns how long to hide its message.
func (c *circuit) enter(ctx context.Context, id string) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.needed = true
	c.probeFirst(ctx)
	if c.state == open && !time.Now().Before(c.until) {
		if c.inFlight != nil {
			return c.refuse(id, 0)
		}
		c.tryAgain(ctx)
	}
	suspect := c.suspects[id].times >= suspectAfter
	switch {
	case c.state == open:
		return c.refuse(id, time.Until(c.until))
	case c.state == halfOpen && (c.trials.full(suspect) || c.yields(id)), suspect && c.alone != "":
		return c.refuse(id, jittered(c.probing()))
	}
	if c.state == halfOpen {
		c.trials.begin(id)
	}
	if suspect {
		c.alone = id // also when a trial beside it closes the breaker
	}
	delete(c.waiting, id)
	return 0
}

// refuse records that a job waits, and returns for how long: at least the given time, at least a second. mu is held.
func (c *circuit) refuse(id string, least time.Duration) time.Duration {
	now := time.Now()
	if now.Sub(c.swept) > time.Minute {
		maps.DeleteFunc(c.waiting, func(_ string, due time.Time) bool { return now.Sub(due) > time.Minute })
		c.swept = now
	}
	wait := max(least, time.Second)
	if crowd := len(c.waiting) - crowdSize; crowd > 0 {
		wait += rand.N(min(time.Duration(crowd)*time.Second/time.Duration(c.slots()), crowdMost))
	}
	c.waiting[id] = now.Add(wait)
	return wait
}

// yields reports whether a job should leave the trial to another one that failed less often, and whose message comes
// back about now. mu is held.
func (c *circuit) yields(id string) bool {
	const grace = 2 * time.Second // queues count in whole seconds
	now, mine := time.Now(), c.suspects[id].times
	for other, due := range c.waiting {
		if late := now.Sub(due); other != id && late > -time.Second && late < grace && c.suspects[other].times < mine {
			return true
		}
	}
	return false
}

// fails records that a job failed because of the service, in an attempt that began at the given time, and returns whether
// the attempt counts. known: the service was down, and may be up again.
func (c *circuit) fails(ctx context.Context, id string, failure *taskerr.Error, known bool, began time.Time) verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, mine := time.Now(), c.trials.has(id)
	known = known || c.downAfter(began)
	c.needed = true
	c.trouble = c.trouble.again(now, failure.Class, hint(failure))
	c.failed[id] = true
	// An attempt that began before the breaker opened is not new evidence.
	late := c.state == halfOpen && !mine || c.state == open && now.Before(c.until)
	down := known || late
	switch {
	case down:
	case !c.probeDecides():
		down = mine || len(c.failed) >= breakerTrips
	case !c.runProbe(ctx, now):
		down = true
	case c.downAfter(began): // another job's probe failed, and the service came back during this one
		down, known = true, true
		if c.state == open {
			c.close()
		}
	case len(c.failed) >= breakerDoubts:
		down, c.doubted = true, true
	case c.state == open:
		c.close() // its pause has ended, and no task needed it
	}
	c.trials.end(id)
	if !down {
		return counted
	}
	c.trouble = c.trouble.again(now, failure.Class, hint(failure)) // others may have succeeded during the probe
	if !late && !known {
		c.trip()
	}
	return c.spare(id)
}

// succeeds records that an attempt which began at the given time used the service successfully.
func (c *circuit) succeeds(id string, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.suspects, id)
	if began.After(c.up) {
		c.up = began
	}
	if c.state != closed && !c.trials.has(id) {
		return // the attempt began before the outage
	}
	if c.state != closed {
		c.close()
	}
	clear(c.failed)
	c.trouble = nil
}

// seen records that the service answers.
func (c *circuit) seen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = time.Now()
}

// withdraw is for a job that was refused, and comes back at another time than it was told.
func (c *circuit) withdraw(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// leave is called when an admitted job has ended.
func (c *circuit) leave(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trials.end(id)
	if c.alone == id {
		c.alone = ""
	}
}

// trip opens the breaker, for twice the last pause unless it was closed since; mu is held.
func (c *circuit) trip() {
	now := time.Now()
	switch {
	case c.state == open && now.Before(c.until):
		return
	case c.state != closed:
		c.pause = min(2*c.pause, c.longest(now))
	case c.probeDecides():
		c.pause = min(probePause, c.most)
	default:
		c.pause = c.most
	}
	if c.trouble == nil { // closed during the probe
		c.trouble = &Trouble{Since: now, Class: taskerr.DependencyUnavailable}
	}
	if c.state == closed {
		c.since = now
		c.log.Warn("circuit breaker", event.Key, event.BreakerOpen, "dependency", c.of, "state", open, "error_class",
			c.trouble.Class, "hint", c.trouble.Hint,
			"meanwhile", "tasks that need it wait without an attempt, and it is tried every "+c.most.String()+
				", less often after some minutes if nothing but a task can try it")
	}
	c.state, c.until = open, now.Add(c.pause-breakerMargin)
	c.trials.endAll()
}

// longest is the current longest pause; mu is held.
func (c *circuit) longest(now time.Time) time.Duration {
	if c.probeDecides() {
		return c.most
	}
	return min(max(now.Sub(c.since)/breakerPart, c.most), breakerGrowth*c.most)
}

// close admits everything again; mu is held.
func (c *circuit) close() {
	now := time.Now()
	c.log.Warn("circuit breaker", event.Key, event.BreakerClosed, "dependency", c.of, "state", closed, "down_for",
		now.Sub(c.since).Round(time.Second))
	c.state, c.since, c.recovered, c.trouble, c.doubted = closed, now, now, nil, false
	c.trials.endAll()
	clear(c.failed)
	c.closes()
}

// probing is about how long a message is hidden while another job tries the service. It is shorter than a pause, so
// that the others follow soon when that job succeeds.
func (c *circuit) probing() time.Duration { return max(c.most/4, time.Second) }

// waits is how long tasks that need the service have to wait, at least a second; zero: the service is up, as far as
// known, or due for a trial.
func (c *circuit) waits() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closed || !time.Now().Before(c.until) {
		return 0
	}
	return max(time.Until(c.until), time.Second)
}

// downFor is for how long the service has been down, as far as this worker knows; zero: it is up.
func (c *circuit) downFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closed {
		return 0
	}
	return time.Since(c.since)
}

// down reports whether tasks that need the service can't try it now: they have to wait, or the worker probes it.
func (c *circuit) down() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == open && (c.probeDecides() || time.Now().Before(c.until))
}

func (c *circuit) health() (h DependencyHealth, needed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return DependencyHealth{Name: c.of, State: c.state, Since: c.since, Trouble: c.trouble}, c.needed
}
