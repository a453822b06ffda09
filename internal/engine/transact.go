package engine

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// commitPatience is how long an outcome is kept in hand while the store is away. The message is kept hidden
// meanwhile, so that nobody begins the job before its outcome is known.
const commitPatience = 10 * time.Minute

// transact tries a commit again while its failure is transient: for commitPatience, or, once the engine is
// told to end at once, for settleTime. It waits at most one poll interval between two tries, so that work goes
// on that soon after an outage. A commit whose answer was lost is refused as fenced the second time: harmless,
// since the message is then left to come back and is answered done (I2).
func (e *Engine) transact(ctx context.Context, a *attempt, commit func(context.Context) (store.Settled, error)) (store.Settled, error) {
	began := time.Now()
	most := min(max(e.tuning().PollMax, time.Second), 10*time.Second)
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, most) {
		settled, err := e.bounded(ctx, commit)
		patience, told := commitPatience, e.tasks.Done()
		if e.tasks.Err() != nil {
			patience, told = settleTime, nil
		}
		if !transient(err) || time.Since(began)+wait > patience {
			return settled, err
		}
		a.log.Warn("a commit failed; trying again", "error", err, "in", wait)
		select {
		case <-time.After(jittered(wait)):
		case <-told: // to end at once: the patience is shorter now
		}
		e.stayHidden(ctx, a)
	}
}

// blame is transact for an outcome that is an error. When the error is the database's fault, and the
// database failed the engine as well in the course of the attempt, or can't take the outcome, it says that
// the database was away: the attempt is then not counted, for it was not the task's fault (I9). A task that
// the database alone refuses is counted.
func (e *Engine) blame(ctx context.Context, a *attempt, failure *job.Error, commit func(context.Context) (store.Settled, error)) (away bool, err error) {
	if failure.Dependency != job.Database {
		_, err = e.transact(ctx, a, commit)
		return false, err
	}
	if e.away.since(a.started) {
		return true, nil
	}
	if _, err = e.bounded(ctx, commit); transient(err) {
		return true, nil
	}
	return false, err
}

func (e *Engine) bounded(ctx context.Context, commit func(context.Context) (store.Settled, error)) (store.Settled, error) {
	ctx, done := settling(ctx)
	defer done()
	settled, err := commit(ctx)
	if transient(err) {
		e.away.noted()
	}
	return settled, err
}

func transient(err error) bool {
	failure, ok := errors.AsType[*job.Error](err)
	return ok && job.Classes[failure.Class].Retryable
}

// stayHidden extends the message's lease when a third of it is over.
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
