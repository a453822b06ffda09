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
	halfOpen = "half-open" // one task at a time tries it
)

const (
	// breakerTrips is how many jobs in a row have to fail until a service that can't be probed is taken for down.
	// Failures of one job alone never are evidence: it may be the job that brings the service down.
	breakerTrips = 3
	// breakerDoubts is how many jobs in a row have to fail until a service is taken for down although it answers
	// its probe: what answers there is not what the tasks need.
	breakerDoubts = 10
	// breakerPause is the longest pause of an open breaker; Config.PollMax is another bound.
	breakerPause = 15 * time.Second
	// Where jobs have to try whether a service is up, the longest pause grows with the time that it is down, to a part
	// of that and to so many times itself: a job that takes the service down each time it tries, for longer than a
	// pause, would leave the others no time in which it is up.
	breakerPart, breakerGrowth = 8, 20
	// probePause is the first pause of a service that can be probed; it doubles up to the longest.
	probePause = time.Second
	// probeTime is how long an answer to a probe is waited for.
	probeTime = 10 * time.Second
	// breakerMargin is how much earlier than its pause a breaker lets one through: the messages that wait for
	// it are hidden for whole seconds, and should find it ready.
	breakerMargin = 100 * time.Millisecond
	// suspectAfter is how many times a job may fail just when the service goes down before it runs without others
	// of its kind, and is counted an attempt when the service goes down once more.
	suspectAfter = 2
	// suspectFor is how long that is remembered of a job.
	suspectFor = 24 * time.Hour
	// A crowd of more than crowdSize messages that wait comes back over a longer time, a second for as many as there
	// are slots: half as fast as they can be received and turned away, so that they don't keep others from being found.
	crowdSize = 50
	crowdMost = time.Hour
)

// circuit is the circuit breaker of one dependency. It tells a service that is down from a task that fails by
// itself, or that brings the service down:
//
//   - A service that can be probed is down when it doesn't answer its probe. One failure is reason enough to ask. When
//     it answers, the failure is the task's own, and counted.
//   - A service that can't be probed is down when breakerTrips different jobs failed in a row. One job at a time, each
//     time another one, then tries whether it is up again.
//   - A job that failed suspectAfter times just when the service went down, and fails so again after it was up, brings
//     it down: the attempt is counted. From suspectAfter times on such jobs run one at a time, so that none is
//     taken for another.
type circuit struct {
	of     taskerr.Dependency
	probe  func() Probe  // nil from it: there is none
	most   time.Duration // the longest pause
	slots  func() int    // of the worker
	closes func()        // called when it closes; must not block
	log    *slog.Logger

	mu        sync.Mutex
	needed    bool // a task has
	state     string
	since     time.Time       // when it opened for the first time since it was closed, or closed
	recovered time.Time       // when it last closed after an outage; zero: there was none
	until     time.Time       // open: nobody is let through before
	pause     time.Duration   // the last one
	failed    map[string]bool // jobs since the last success
	doubted   bool            // it answers its probe, and nothing else
	trial     string          // half-open: the job that tries it; empty: none
	alone     string          // the suspect that runs; empty: none
	up        time.Time       // when it was last seen to be up
	trouble   *Trouble        // the last failure; nil: none
	suspects  map[string]suspicion
	waiting   map[string]time.Time // jobs that were turned away: when their messages come back
	swept     time.Time            // when those were removed from waiting that didn't
	asking    *question            // the probe that is under way; nil: none
}

// believed says whether the answer to a probe decides; mu is held.
func (c *circuit) believed() bool { return c.probe() != nil && !c.doubted }

// enter lets a job through, or says how long its message is to be hidden.
func (c *circuit) enter(ctx context.Context, id string) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.needed = true
	if c.state == open && !time.Now().Before(c.until) {
		if c.asking != nil {
			return c.refuse(id, 0)
		}
		c.tryAgain(ctx)
	}
	switch {
	case c.state == open:
		return c.refuse(id, time.Until(c.until))
	case c.state == halfOpen && (c.trial != "" || c.yields(id)):
		return c.refuse(id, jittered(c.probing()))
	case c.state == halfOpen:
		c.trial = id
	case c.suspects[id].times < suspectAfter:
	case c.alone != "":
		return c.refuse(id, jittered(c.probing()))
	default:
		c.alone = id
	}
	delete(c.waiting, id)
	return 0
}

// tryAgain looks whether the service is up after a pause, if a probe can tell; else jobs have to. mu is held, but not
// while the answer is waited for.
func (c *circuit) tryAgain(ctx context.Context) {
	if !c.believed() {
		c.state = halfOpen
		return
	}
	if c.ask(ctx, time.Now()) {
		c.close()
	} else {
		c.trip()
	}
}

// refuse notes that a job waits, and says for how long: at least so long, at least a second. mu is held.
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

// yields says that a job lets another one try the service: one that failed at it less often, and whose message is
// there about now. mu is held.
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

// fails notes that a job failed by the fault of the service, and says whether the attempt is to be counted. known:
// the service was down, and may be up again.
func (c *circuit) fails(ctx context.Context, id string, failure *taskerr.Error, known bool) verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, mine := time.Now(), c.trial == id
	c.needed = true
	c.trouble = c.trouble.again(now, failure.Class, hint(failure))
	c.failed[id] = true
	// An attempt that began before it opened says nothing new.
	late := c.state == halfOpen && !mine || c.state == open && now.Before(c.until)
	down := known || late
	switch {
	case down:
	case !c.believed():
		down = mine || len(c.failed) >= breakerTrips
	case !c.ask(ctx, now):
		down = true
	case len(c.failed) >= breakerDoubts:
		down, c.doubted = true, true
	case c.state == open:
		c.close() // its pause is over, and nobody came who needs it
	}
	if mine {
		c.trial = ""
	}
	if !down {
		return counted
	}
	c.trouble = c.trouble.again(now, failure.Class, hint(failure)) // others may have succeeded while it was asked
	if !late && !known {
		c.trip()
	}
	return c.spare(id)
}

// succeeds notes that an attempt which began at a time has used the service well.
func (c *circuit) succeeds(id string, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.suspects, id)
	if began.After(c.up) {
		c.up = began
	}
	if c.state != closed && c.trial != id {
		return // it began before the service went down
	}
	if c.state != closed {
		c.close()
	}
	clear(c.failed)
	c.trouble = nil
}

// seen notes that the service answers.
func (c *circuit) seen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = time.Now()
}

// leave is called for whoever was let through, when it has ended.
func (c *circuit) leave(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trial == id {
		c.trial = ""
	}
	if c.alone == id {
		c.alone = ""
	}
}

// trip opens it, for twice as long as the last time if it was not closed since; mu is held.
func (c *circuit) trip() {
	now := time.Now()
	switch {
	case c.state == open && now.Before(c.until):
		return
	case c.state != closed:
		c.pause = min(2*c.pause, c.longest(now))
	case c.believed():
		c.pause = min(probePause, c.most)
	default:
		c.pause = c.most
	}
	if c.trouble == nil { // it was closed while an answer was waited for
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
}

// longest is the longest pause of now; mu is held.
func (c *circuit) longest(now time.Time) time.Duration {
	if c.believed() {
		return c.most
	}
	return min(max(now.Sub(c.since)/breakerPart, c.most), breakerGrowth*c.most)
}

// close lets all through; mu is held.
func (c *circuit) close() {
	now := time.Now()
	c.log.Warn("circuit breaker", event.Key, event.BreakerClosed, "dependency", c.of, "state", closed, "down_for",
		now.Sub(c.since).Round(time.Second))
	c.state, c.since, c.recovered, c.trouble, c.doubted, c.trial = closed, now, now, nil, false, ""
	clear(c.failed)
	c.closes()
}

// probing is about how long a message is hidden that comes while another one tries the service: when that one
// succeeds the others don't wait for a whole pause more.
func (c *circuit) probing() time.Duration { return max(c.most/4, time.Second) }

// waits is how long tasks that need the service have to wait, at least a second; zero: it is up, as far as is known,
// or it is time to look.
func (c *circuit) waits() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closed || !time.Now().Before(c.until) {
		return 0
	}
	return max(time.Until(c.until), time.Second)
}

func (c *circuit) health() (h DependencyHealth, needed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return DependencyHealth{Name: c.of, State: c.state, Since: c.since, Trouble: c.trouble}, c.needed
}
