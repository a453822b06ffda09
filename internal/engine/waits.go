package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A release costs no attempt (I9), so what is given back again and again would never end. A series of a job waits for
// services that are down for at most Config.WaitMax since its first such release, and its handler runs at most
// Config.MaxReleases times uncounted; then it fails (I11). A shutdown and another job on the same document are not
// counted: they have ends of their own.
//
// The default of MaxReleases is for hours: a task that is alone tries a service that answers its probe and
// nothing else every 15 s, and an outage of some hours is no reason to give it up.
const (
	DefaultWaitMax     = 72 * time.Hour
	DefaultMaxReleases = 1000
)

// longPause is how long a message is hidden that has been on its queue for longer than a job may wait: each time its
// job's row is asked how long it waits.
const longPause = 10 * time.Minute

// verdict is what the circuit breakers say of a failed attempt.
type verdict int

const (
	counted verdict = iota // the attempt counts as any other
	spared                 // a service is down, and not because of the task: it doesn't count
	blamed                 // a service is down because of the task, as it was before: it counts, come what may
)

// errDatabaseGone is the failure of an attempt whose lease was lost while the database was away.
var errDatabaseGone = &taskerr.Error{
	Class: taskerr.TransientStorage, Dependency: taskerr.Database,
	Message: "the database went away each time that the task ran",
	Hint:    "look at the database's log for what ended it, and whether this task's document is very large",
}

// judge asks the circuit breakers whether a failed attempt is to be counted. It may take as long as two probes.
func (e *Engine) judge(ctx context.Context, a *attempt, err, cause error) verdict {
	switch {
	case errors.Is(cause, ErrLeaseLost) && e.outages.seenSince(a.started):
		return e.breakers.failed(ctx, a, errDatabaseGone, true)
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
	return e.breakers.failed(ctx, a, failure, failure.Dependency == taskerr.Database &&
		e.outages.happenedSince(a.started))
}

// await gives a job back because a service is down, uncounted; or it fails, when it has waited for long enough.
// tried: its handler has run.
func (e *Engine) await(ctx context.Context, a *attempt, d taskerr.Dependency, tried bool) (string, taskerr.Class) {
	wait := max(e.breakers.of(d).waits(), time.Second)
	if !tried {
		wait = longPause
	}
	return e.giveBackAtMost(ctx, a, wait, "waiting for the "+string(d)+", which is down", tried)
}

// giveBackAtMost gives a job back for a reason that is to have an end.
func (e *Engine) giveBackAtMost(
	ctx context.Context, a *attempt, wait time.Duration, why string, tried bool,
) (string, taskerr.Class) {
	t := e.tuning()
	if a.begun.Waited < t.WaitMax && (!tried || a.begun.Releases < t.MaxReleases) {
		outcome, class := e.giveBack(ctx, a, wait, why, store.Release{Waits: true, Tried: tried})
		if outcome == Released && a.spares != nil {
			a.spares.suspect(a.task.ID)
		}
		return outcome, class
	}
	a.failure = &taskerr.Error{
		Class: taskerr.WaitExceeded,
		Message: fmt.Sprintf("given up after waiting for %v, and %d runs that were not counted, at last %s: replay "+
			"it when that is mended",
			a.begun.Waited.Round(time.Second), a.begun.Releases, why),
		Hint: "what the task needs was down for longer, or more often, than WAIT_MAX_HOURS and WAIT_MAX_RELEASES " +
			"allow: mend it and replay the task",
	}
	return e.fail(ctx, a, a.failure, "exhausted")
}

// outdated says that a message has been on its queue for longer than a job may wait. That alone is no reason to give
// it up: no worker may have been there.
func (e *Engine) outdated(d *delivery) bool {
	return time.Since(d.msg.InsertedAt) >= e.tuning().WaitMax
}

// waitOn is for a message that is outdated and may not be started: its job's row keeps from now on how long it waits.
// So also a job that was never begun has an end (I11).
func (e *Engine) waitOn(ctx context.Context, a *attempt, d taskerr.Dependency) {
	if !e.begin(ctx, a) {
		return
	}
	a.started = time.Now()
	a.journal = newJournal(ctx, e.obs, a.spec, a.begun.Progress)
	a.journal.close()
	outcome, class := e.await(ctx, a, d, false)
	if job.State(outcome) == job.Failed {
		e.obs.Finished(a.task.Type, Ending{Outcome: outcome, Class: class, Attempt: a.begun.Attempt, JobTook: a.took})
	}
	a.tell(outcome, class, time.Since(a.started))
}

// failed notes a failure by the fault of a dependency, and says whether the attempt is to be counted. known: the
// dependency was down in its course, and may be up again.
func (b *breakers) failed(ctx context.Context, a *attempt, failure *taskerr.Error, known bool) verdict {
	c := b.of(failure.Dependency)
	if !known && !slices.Contains(a.spec.Needs, failure.Dependency) && c.probe() == nil {
		if c.waits() > 0 {
			return spared
		}
		return counted // nobody would be held back who needs it no more than this one
	}
	v := c.fails(ctx, a.task.ID, failure, known || c.downAfter(a.started))
	if v == blamed && !a.suspicious() {
		v = spared
	}
	if v == spared {
		a.spares = c
	}
	return v
}

// suspicious says whether the job was given back often enough in this series to be blamed. What a circuit breaker
// remembers of it may be of an earlier one, which another worker ended.
func (a *attempt) suspicious() bool { return a.begun.Releases >= suspectAfter }
