package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (e *Engine) succeed(ctx context.Context, a *attempt, out handlers.Outcome) (string, taskerr.Class) {
	result, err := safely(a.log, func() (json.RawMessage, error) { return a.finished(out.Result) })
	if err != nil {
		a.failure = &taskerr.Error{
			Class: taskerr.InternalBug, Message: "the result can't be written as JSON", Cause: err,
		}
		return e.fail(ctx, a, a.failure, "permanent")
	}
	settled, err := e.transact(ctx, a, func(ctx context.Context) (store.Settlement, error) {
		return e.deps.Store.Complete(ctx, store.Completion{
			Holder: a.holder, Result: result, Effects: out.Effects, Events: a.journal.rest().all(),
		})
	})
	if failure, ok := errors.AsType[*taskerr.Error](err); ok && !taskerr.Classes[failure.Class].Retryable {
		a.failure = failure
		return e.fail(ctx, a, failure, "permanent") // an effect was refused permanently
	}
	if errors.Is(err, store.ErrFenced) {
		return e.yield(ctx, a)
	}
	if errors.Is(err, errCommitFails) {
		a.failure, a.verdict = classify(err), blamed
		return e.retryOrFail(ctx, a, a.failure)
	}
	if err != nil {
		return e.uncommitted(ctx, a, err)
	}
	return e.ended(ctx, a, settled)
}

// ended settles the message of a job that has succeeded or was canceled.
func (e *Engine) ended(ctx context.Context, a *attempt, settled store.Settlement) (string, taskerr.Class) {
	e.finishJob(a, settled)
	a.acknowledge(ctx)
	return settled.State, ""
}

func (e *Engine) cancel(ctx context.Context, a *attempt) (string, taskerr.Class) {
	settled, err := e.transact(ctx, a, func(ctx context.Context) (store.Settlement, error) {
		return e.deps.Store.Canceled(ctx, a.holder, a.journal.rest().all())
	})
	if err != nil {
		return e.uncommitted(ctx, a, err)
	}
	return e.ended(ctx, a, settled)
}

// yield handles an attempt that lost its lease, or seems to have. When another worker has the job, the store refuses
// the release, and this worker touches neither row nor message (I4). Otherwise (another job took the staged version, or
// the store was down for longer than a lease) the job is released: what was not the task's fault is not counted (I9),
// within a bound (I11).
func (e *Engine) yield(ctx context.Context, a *attempt) (string, taskerr.Class) {
	return e.giveBackAtMost(ctx, a, time.Second, bound{
		reason: "the right to this attempt was lost", tried: true, waited: a.begun.Waited, most: e.tuning().WaitMax,
	})
}

// release gives the job back without counting the attempt (I9); the message comes back after wait.
func (e *Engine) release(ctx context.Context, a *attempt, wait time.Duration, reason string) (string, taskerr.Class) {
	return e.giveBack(ctx, a, wait, reason, store.Release{})
}

func (e *Engine) giveBack(
	ctx context.Context, a *attempt, wait time.Duration, reason string, r store.Release,
) (string, taskerr.Class) {
	a.journal.note(reason)
	a.reason, a.wait = reason, wait
	settled, err := e.transact(ctx, a, func(ctx context.Context) (store.Settlement, error) {
		if err := e.keepCheckpoint(ctx, a); err != nil {
			return store.Settlement{}, err
		}
		r.Holder, r.Events = a.holder, a.journal.rest().all()
		return e.deps.Store.Release(ctx, r)
	})
	if err != nil {
		return e.uncommitted(ctx, a, err)
	}
	if settled.State == string(job.Canceled) {
		return e.ended(ctx, a, settled)
	}
	a.putBack(ctx, wait)
	e.wakeAfter(wait)
	return Released, ""
}

func (e *Engine) retry(ctx context.Context, a *attempt, failure *taskerr.Error) (string, taskerr.Class) {
	wait := e.policy(a.spec).Wait(a.begun.Attempt, a.begun.LastWait, failure.RetryAfter,
		rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	var settled store.Settlement
	outage, err := e.blame(ctx, a, failure, func(ctx context.Context) (_ store.Settlement, err error) {
		if err := e.keepCheckpoint(ctx, a); err != nil {
			return store.Settlement{}, err
		}
		settled, err = e.deps.Store.Retry(ctx, store.Retry{
			Holder: a.holder, Error: a.describe(failure), After: wait, Events: a.journal.rest().all(),
		})
		return settled, err
	})
	if outage {
		return e.await(ctx, a, taskerr.Database, true)
	}
	if err != nil {
		return e.uncommitted(ctx, a, err)
	}
	if settled.State == string(job.Canceled) {
		return e.ended(ctx, a, settled)
	}
	a.wait = wait
	a.putBack(ctx, wait)
	e.wakeAfter(wait)
	return Retried, failure.Class
}

func (e *Engine) fail(ctx context.Context, a *attempt, failure *taskerr.Error, reason string) (string, taskerr.Class) {
	var settled store.Settlement
	outage, err := e.blame(ctx, a, failure, func(ctx context.Context) (_ store.Settlement, err error) {
		settled, err = e.deps.Store.Fail(ctx, store.Failure{
			Holder: a.holder, Error: a.describe(failure), Reason: reason,
			Source: a.source(), Original: a.msg.Text, Events: a.journal.rest().all(),
		})
		return settled, err
	})
	if outage {
		return e.await(ctx, a, taskerr.Database, true)
	}
	if err != nil {
		return e.uncommitted(ctx, a, err)
	}
	e.finishJob(a, settled)
	e.bury(ctx, a.delivery, string(a.task.Type), a.task.ID, settled.DeadLetter, true)
	return settled.State, failure.Class
}

// keepCheckpoint writes a checkpoint that no heartbeat has written, for the next attempt.
func (e *Engine) keepCheckpoint(ctx context.Context, a *attempt) error {
	rest := a.journal.rest()
	if rest.checkpoint == nil {
		return nil
	}
	_, err := e.deps.Store.Heartbeat(ctx, store.Heartbeat{
		Holder: a.holder, Lease: e.cfg.Lease, Events: rest.all(), Checkpoint: rest.checkpoint,
	})
	if err == nil {
		a.journal.kept()
	}
	return err
}

// uncommitted handles an outcome that the store did not take. The job's row is unchanged or, if only the answer was
// lost, complete: the message comes back and begin decides.
func (e *Engine) uncommitted(ctx context.Context, a *attempt, err error) (string, taskerr.Class) {
	if errors.Is(err, store.ErrFenced) {
		a.reason = "the outcome was refused: the job is no longer held by this attempt"
		e.deps.Outbox() // the commit may have succeeded and only its answer been lost: then there is a webhook
	} else {
		a.reason = "the outcome could not be recorded"
		a.log.Error("the outcome could not be recorded; the message comes back and the job is retried", "error",
			err, "hint", helpOf(classify(err)))
		a.putBack(ctx, e.cfg.Lease)
	}
	return Lost, ""
}

// finishJob is called when a job has ended.
func (e *Engine) finishJob(a *attempt, s store.Settlement) {
	e.after(s)
	a.took = s.Duration
	e.breakers.forget(a.task.ID)
}

// after wakes the webhook loop if the commit added a webhook.
func (e *Engine) after(s store.Settlement) {
	if s.Deliveries > 0 {
		e.deps.Outbox()
	}
}

// classify is taskerr.Classify for errors that may come from the store: a key that was just changed, or an API that is
// just loading the schema, is not a bug of the task.
func classify(err error) *taskerr.Error {
	var remedy string
	switch {
	case errors.Is(err, store.ErrForbidden):
		remedy = store.NextForbidden(err, "check the database's key in the settings, and that it is for this CLIENT_ID")
	case errors.Is(err, store.ErrUnexposed):
		remedy = store.NextUnexposed
	case errors.Is(err, store.ErrSchema):
		remedy = "run async-worker migrate, and start the version of the worker that fits the schema"
	default:
		return ofMachine(taskerr.Classify(err))
	}
	return &taskerr.Error{
		Class: taskerr.DependencyUnavailable, Message: "the database refused the worker; the worker's log has the details",
		Cause: err, Hint: remedy,
	}
}

// ofMachine blames this machine for a failure that it causes, e.g. by too many open files, whichever service could not be
// called or file not be written. The database is judged with the engine's own calls.
func ofMachine(failure *taskerr.Error) *taskerr.Error {
	if failure.Dependency == taskerr.Database || !taskerr.Classes[failure.Class].Retryable || !taskerr.Exhausted(failure) {
		return failure
	}
	blamed := *failure
	blamed.Dependency = taskerr.Machine
	blamed.Hint = taskerr.Remedy(failure) // the failure's own may be how to mend the service
	return &blamed
}

// describe converts the attempt's failure, with its stage and duration.
func (a *attempt) describe(failure *taskerr.Error) store.ErrorInfo {
	described := describe(failure, a.task.Type)
	described.ProcessingMS = time.Since(a.started).Milliseconds()
	return described
}

// describe converts an error into the form of rows and webhooks.
func describe(failure *taskerr.Error, t task.Type) store.ErrorInfo {
	info := taskerr.Classes[failure.Class]
	return store.ErrorInfo{
		Type: info.TypeName, Class: string(failure.Class), Code: failure.CodeFor(t),
		Message: failure.Message, Retryable: info.Retryable, Coarse: info.Coarse,
	}
}

// finished adds processing_time_ms to a handler's result, and counts its warnings.
func (a *attempt) finished(result any) (json.RawMessage, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if string(raw) != "null" {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, fmt.Errorf("a result must be a JSON object: %w", err)
		}
	}
	var warnings []string
	if json.Unmarshal(fields["warnings"], &warnings) == nil { // other results may use the name otherwise
		a.warnings = len(warnings)
	}
	fields["processing_time_ms"] = json.RawMessage(fmt.Sprint(time.Since(a.started).Milliseconds()))
	return json.Marshal(fields)
}
