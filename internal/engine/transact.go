package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// commitPatience is how long an outcome is kept while the store does not take it. The message stays hidden meanwhile,
// so that no worker begins the job before its outcome is known. It bounds how long a commit that the database never
// answers (its row is locked, say) holds a slot.
const commitPatience = 10 * time.Minute

// commitTries is how often a commit may fail right after the database took a renewal of the job's lease. Then this
// commit can't be executed, and may be what brings the database down. Writes of others in between are not evidence: one
// of them may have brought the database down again. So only a try counts that had its turn alone.
const commitTries = 3

// renewTime bounds the renewal of a job's lease before a commit is retried; a third of the lease is another bound.
const renewTime = 5 * time.Second

var errCommitFails = errors.New("engine: the database accepts other writes, but not this commit")

// transact retries a commit while its failure is transient, or the database refuses the worker: for commitPatience or,
// once the engine has to end at once, for settleTime. It waits at most one poll interval between two tries, so that
// work resumes that soon after an outage. A commit whose answer was lost is refused as fenced the second time, which is
// harmless: the message comes back and is answered done (I2).
func (e *Engine) transact(
	ctx context.Context, a *attempt, commit func(context.Context) (store.Settlement, error),
) (store.Settlement, error) {
	began, tries, failed, renewed := time.Now(), 0, 0, false
	next := retry.Backoff{First: 200 * time.Millisecond, Max: e.commitPause(), Jitter: 0.1}.Waits().Next
	_, over := e.turns.take(ctx, false)
	for {
		settled, err := e.inTurn(ctx, over, commit)
		wait := next()
		patience, shortened := e.patience()
		if !transient(err) && !refused(err) || time.Since(began)+wait > patience {
			if tries > 1 && !transient(err) && !refused(err) { // also a refusal as fenced is an answer
				e.throttle.store.succeeded()
			}
			return settled, err
		}
		if tries++; tries > 1 { // no receive or begin may tell while all slots keep outcomes
			e.throttle.store.refused(began, classify(err).Class, helpOf(classify(err)))
		}
		if renewed && !refused(err) {
			failed++
		}
		if failed >= commitTries {
			return settled, fmt.Errorf("%w: %w", errCommitFails, err)
		}
		a.log.Warn("a commit failed; retrying", "error", err, "in", wait, "hint", helpOf(classify(err)))
		select {
		case <-time.After(wait):
		case <-shortened: // the engine ends: settleTime applies now
		}
		e.stayHidden(ctx, a)
		var alone bool
		alone, over = e.turns.take(ctx, true)
		renewed = shortened != nil && e.stayHeld(ctx, a) && alone
	}
}

// commitPause is the longest pause between two tries of a commit, without its jitter.
func (e *Engine) commitPause() time.Duration {
	return min(max(e.tuning().PollMax, time.Second), 10*time.Second, e.cfg.Lease/3)
}

// inTurn sends a commit in the turn that over ends.
func (e *Engine) inTurn(
	ctx context.Context, over func(), commit func(context.Context) (store.Settlement, error),
) (store.Settlement, error) {
	defer over()
	return e.bounded(ctx, commit)
}

// patience returns how long an outcome is kept, and a channel that is closed when that becomes shorter; nil: it has.
func (e *Engine) patience() (most time.Duration, shortened <-chan struct{}) {
	if e.tasks.Err() != nil {
		return settleTime, nil
	}
	return commitPatience, e.tasks.Done()
}

// blame is transact for an outcome that is an error. When the error is the database's fault, and the database also
// failed the engine during the attempt, or can't take the outcome, it reports an outage: the attempt is then not
// counted, because it was not the task's fault (I9). A task that only its own database calls fail for is counted, and
// so is one that ran each time that the database went down (I11).
func (e *Engine) blame(
	ctx context.Context, a *attempt, failure *taskerr.Error, commit func(context.Context) (store.Settlement, error),
) (outage bool, err error) {
	if failure.Dependency != taskerr.Database || a.verdict == blamed {
		_, err = e.transact(ctx, a, commit)
		return false, err
	}
	outage, held := e.outages.happenedSince(a.started)
	if !outage && held && a.excused() == spared {
		return true, nil
	}
	if !outage {
		_, err = e.bounded(ctx, commit)
		outage = transient(err)
	}
	if !outage {
		return false, err
	}
	if c := e.breakers.of(taskerr.Database); c.blames(a.task.ID) == spared || !a.suspicious() {
		a.spares = c
		return true, err
	}
	a.verdict = blamed
	_, err = e.transact(ctx, a, commit)
	return false, err
}

func (e *Engine) bounded(
	ctx context.Context, commit func(context.Context) (store.Settlement, error),
) (settled store.Settlement, err error) {
	ctx, done := settling(ctx)
	defer done()
	over := e.outages.call()
	defer func() { over(transient(err), refused(err)) }()
	settled, err = commit(ctx)
	if !transient(err) {
		e.breakers.of(taskerr.Database).seen()
	}
	return settled, err
}

func transient(err error) bool {
	failure, ok := errors.AsType[*taskerr.Error](err)
	return ok && taskerr.Classes[failure.Class].Retryable
}

// refused reports whether the database refuses the worker and not the task: its key, or the schema while somebody
// changes it. An operator can fix both, so the outcome is kept.
func refused(err error) bool {
	return errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrSchema)
}

// invalid reports whether a request can never be stored.
func invalid(err error) bool {
	failure, ok := errors.AsType[*taskerr.Error](err)
	return ok && failure.Class == taskerr.ValidationError
}

// stayHidden extends the message's lease when a third of it has passed.
func (e *Engine) stayHidden(ctx context.Context, a *attempt) {
	if time.Until(a.msg.Lease.Deadline()) > e.cfg.Lease*2/3 {
		return
	}
	ctx, done := settling(ctx)
	defer done()
	if err := a.msg.Lease.Extend(ctx, e.cfg.Lease); err != nil {
		a.log.Warn("can't keep the message hidden while its outcome waits", "error", err)
	}
}

// stayHeld extends the job's lease while its outcome waits, and reports whether the store took that: then the database
// is up, and takes small writes.
func (e *Engine) stayHeld(ctx context.Context, a *attempt) bool {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), min(renewTime, e.cfg.Lease/3))
	defer done()
	_, err := e.deps.Store.Heartbeat(ctx, store.Heartbeat{Holder: a.holder, Lease: e.cfg.Lease})
	if err != nil {
		return false // the commit fails as well, with the reason
	}
	e.breakers.of(taskerr.Database).seen()
	return true
}
