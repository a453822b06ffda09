package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A release costs no attempt (I9), so a job that is released repeatedly would never end. A series of a job waits for
// services that are down for at most its max_wait_seconds, or Config.WaitMax without, since its first such release, and
// its handler runs at most Config.MaxReleases times uncounted; then it fails (I11). Releases for a shutdown, or for
// another job on the same document, don't count: those end by themselves.
//
// The default of MaxReleases is enough for hours: a lone task tries a service whose probe alone succeeds every 15 s,
// and an outage of some hours is not a reason to give up.
const (
	DefaultWaitMax     = 72 * time.Hour
	DefaultMaxReleases = 1000
)

// longPause is how long a message is hidden that has been on its queue for longer than a job may wait: each return
// costs a query of its job's row.
const longPause = 10 * time.Minute

// expiryMargin is how long before its message expires a job that waits gets its row, or the message a copy: a busy queue returns
// a message late.
const expiryMargin = time.Hour

// turnedMost is the longest pause, without its jitter, of a task whose database turns all callers away.
const turnedMost = 30 * time.Second

// verdict is the circuit breakers' judgment of a failed attempt.
type verdict int

const (
	counted verdict = iota // the attempt counts
	spared                 // a service is down, not because of the task: the attempt doesn't count
	blamed                 // a service is down because of the task, repeatedly: the attempt counts in any case
	turned                 // the database turns all callers away, which no task can cause: it doesn't count, ever
)

// errDatabaseGone is the failure of an attempt whose lease was lost during an outage of the database.
var errDatabaseGone = &taskerr.Error{
	Class: taskerr.TransientStorage, Dependency: taskerr.Database,
	Message: "the database went down each time that the task ran",
	Hint:    "look at the database's log for what ended it, and whether this task's document is very large",
}

// judge asks the circuit breakers whether a failed attempt counts. It may take as long as two probes.
func (e *Engine) judge(ctx context.Context, a *attempt, err, cause error) verdict {
	switch {
	case errors.Is(cause, ErrLeaseLost) && e.outages.seenSince(a.started):
		return e.breakers.failed(ctx, a, errDatabaseGone, true, false)
	case err == nil || cause != nil || errors.Is(err, store.ErrFenced):
		return counted
	}
	if _, busy := errors.AsType[*store.BusyError](err); busy {
		return counted
	}
	failure := classify(err)
	if failure.Dependency == "" || !taskerr.Classes[failure.Class].Retryable {
		return counted
	}
	if failure.Dependency != taskerr.Database {
		// A model that hung may have recovered between the request and now, so that its probe succeeds. Calls of other
		// services are not repeated for that: the gateway is paid by the call.
		hung := failure.Dependency == taskerr.Model && failure.Class == taskerr.NetworkTimeout
		// The tasks beside it may have given back what this one lacked.
		lacked := failure.Dependency == taskerr.Machine
		return e.breakers.failed(ctx, a, failure, false, hung || lacked)
	}
	known, held := e.outages.happenedSince(a.started)
	v := e.breakers.failed(ctx, a, failure, known, held || errors.Is(failure, store.ErrCutOff))
	if errors.Is(failure, store.ErrNotServing) {
		a.spares, v = nil, turned
	}
	return v
}

// await releases a job uncounted because a service is down, or fails it when it has waited for too long. tried: its
// handler has run.
func (e *Engine) await(ctx context.Context, a *attempt, d taskerr.Dependency, tried bool) (string, taskerr.Class) {
	wait := max(e.breakers.of(d).waits(), time.Second)
	switch {
	case !tried:
		wait = longPause
	case a.verdict == turned: // maybe the breaker is closed, since the engine's connections are older
		wait = max(wait, min(time.Second<<min(a.begun.Releases, 6), turnedMost))
		wait += rand.N(wait / 2)
	}
	waited, most := a.begun.Waited, e.longestWait(a.task)
	neverRan := !tried && a.begun.Attempt == 1 && a.begun.Releases == 0
	if neverRan && a.task.Hints.MaxWait > 0 && waited < max(most, e.tuning().WaitMax) {
		// It may have waited for a slot before this outage, and between it and earlier ones. A worker knows of an outage only
		// since its own start, so all counts once the first wait was that long ago: it ends although workers restart (I11).
		waited = min(max(waited, a.onQueue()), e.breakers.of(d).downFor())
	}
	wait = min(wait, max(most-waited, time.Second))
	return e.giveBackAtMost(ctx, a, wait, bound{
		reason: waitingFor(d), tried: tried, waited: waited, most: most,
		code: d.DownCode(),
	})
}

func waitingFor(d taskerr.Dependency) string {
	if d == taskerr.Machine {
		return "waiting while " + d.Down()
	}
	return "waiting for the " + string(d) + ", which is down"
}

// bound is why and within which limits a job is released uncounted.
type bound struct {
	reason       string
	tried        bool          // its handler has run
	waited, most time.Duration // how long the job has waited, and may
	code         string        // of its failure at the limit; empty: that of the class
}

// longestWait is how long a task may wait for a service that is down: its own word is the last.
func (e *Engine) longestWait(t task.Task) time.Duration {
	return cmp.Or(t.Hints.MaxWait, e.tuning().WaitMax)
}

// giveBackAtMost releases a job for a reason that is bounded.
func (e *Engine) giveBackAtMost(ctx context.Context, a *attempt, wait time.Duration, b bound) (string, taskerr.Class) {
	if b.waited < b.most && (!b.tried || a.begun.Releases < e.tuning().MaxReleases) {
		outcome, class := e.giveBack(ctx, a, wait, b.reason, store.Release{Waits: true, Tried: b.tried})
		if outcome == Released && a.spares != nil {
			a.spares.suspect(a.task.ID)
		}
		return outcome, class
	}
	a.failure = &taskerr.Error{
		Class: taskerr.WaitExceeded, Code: b.code,
		Message: fmt.Sprintf("given up after waiting for %v and %d uncounted runs, last because %s: replay "+
			"it when that is fixed",
			b.waited.Round(time.Second), a.begun.Releases, b.reason),
		Hint: "what the task needs was down for longer, or more often, than WAIT_MAX_HOURS, WAIT_MAX_RELEASES and the " +
			"task's max_wait_seconds allow: fix it and replay the task",
	}
	return e.fail(ctx, a, a.failure, "exhausted")
}

// mayWait is for how much longer a message may be on its queue before its job's row is looked at; not positive: it was
// there for longer than a job may wait, which alone is not a reason to give up, as maybe no worker was running; or it
// expires, and without a row nothing would be left of its task (I1).
func (e *Engine) mayWait(a *attempt) time.Duration {
	left := e.longestWait(a.task) - a.onQueue()
	if expires := a.msg.ExpiresAt; !expires.IsZero() {
		left = min(left, time.Until(expires)-expiryMargin)
	}
	return left
}

// expiresSoon reports whether the message may expire before it is received again.
func (a *attempt) expiresSoon() bool {
	return !a.msg.ExpiresAt.IsZero() && time.Until(a.msg.ExpiresAt) <= expiryMargin
}

// onQueue is for how long the message has been on its queue, not counting the time before its task may start.
func (a *attempt) onQueue() time.Duration {
	since := a.msg.InsertedAt
	if a.task.RunAt.After(since) {
		since = a.task.RunAt
	}
	return time.Since(since)
}

// waitOn handles an outdated message that can't be started: from now on its job's row records how long it waits, so
// that a job which was never begun also ends (I11).
func (e *Engine) waitOn(ctx context.Context, a *attempt, d taskerr.Dependency) {
	if !e.begin(ctx, a) {
		return
	}
	a.started = time.Now()
	a.journal = e.newJournal(ctx, a)
	a.journal.close()
	outcome, class := e.await(ctx, a, d, false)
	if job.State(outcome).Terminal() {
		e.obs.Finished(a.task.Type, Ending{Outcome: outcome, Class: class, Attempt: a.begun.Attempt, JobTook: a.took})
	}
	a.logEnd(outcome, class, time.Since(a.started))
}

// failed records a failure caused by a dependency, and returns whether the attempt counts. known: the dependency was
// down during the attempt, and may be up again. doubtful: it may have been, because it did not answer in time, the task's
// connection was cut off, or a call of the engine was held up; that excuses a job's first suspectAfter failures, on
// whatever worker.
func (b *breakers) failed(ctx context.Context, a *attempt, failure *taskerr.Error, known, doubtful bool) verdict {
	c := b.of(failure.Dependency)
	var v verdict
	if !known && !slices.Contains(a.spec.Needs, failure.Dependency) && c.probe() == nil {
		v = counted // the breaker would hold back no other task
		if c.waits() > 0 {
			v = spared
		}
	} else if v = c.fails(ctx, a.task.ID, failure, known, a.started); v == spared {
		a.spares = c
	}
	if v == blamed && !a.suspicious() {
		a.spares, v = c, spared
	}
	if v == counted && doubtful {
		return a.excused()
	}
	return v
}

// excused is the verdict on an attempt that failed although nothing shows that the service was down.
func (a *attempt) excused() verdict {
	if a.suspicious() {
		return blamed
	}
	return spared
}

// suspicious reports whether the job was released often enough in this series to be blamed. A circuit breaker may
// remember an earlier series, which another worker ended.
func (a *attempt) suspicious() bool { return a.begun.Releases >= suspectAfter }
