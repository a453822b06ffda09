package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// attempt is one run of a handler under one fence.
type attempt struct {
	*delivery
	task     task.Task
	handler  handlers.Handler
	spec     handlers.Spec
	entered  []taskerr.Dependency // whose circuit breakers have admitted it
	calledAt time.Time            // when begin was called: the job's lease counts from then
	begun    store.BeginAnswer
	holder   store.Holder
	started  time.Time
	span     *tracing.Attempt // nil: no span
	journal  *journal
	failure  *taskerr.Error // the handler's error; nil: none, or the handler was stopped
	verdict  verdict        // the circuit breakers' verdict on that failure
	spares   *circuit       // the breaker that did not count it; nil: none
	warnings int            // in its result
	reason   string         // of a release; empty: not released
	wait     time.Duration  // until the job may be begun again
	took     time.Duration  // the job, from the start of its first attempt to its end; zero: not finished
}

// run does the attempt and settles it.
func (e *Engine) run(ctx context.Context, a *attempt) {
	a.started = time.Now()
	ctx, a.span = e.deps.Tracer.Attempt(ctx, a.work())
	e.obs.Started(a.task.Type, a.begun.Attempt)
	a.log = a.log.With("attempt", a.begun.Attempt)
	a.log.Debug("started", "of", a.begun.MaxAttempts)

	limit := a.task.Hints.Timeout
	if limit <= 0 {
		limit = e.tuning().TaskTimeout
	}
	timed, stopTimer := context.WithTimeoutCause(ctx, limit, ErrTimeout)
	defer stopTimer()
	work, end := context.WithCancelCause(timed)
	defer end(nil)

	a.journal = e.newJournal(work, a)
	a.journal.span = a.span
	work = task.WithID(event.With(work, a.fields()...), a.task.ID)
	hold := e.keep(work, end, a) // the one heartbeat of this task
	forget := e.watch.add(a.holder, end)
	outcome, err := e.call(work, a)
	cause := context.Cause(work)
	forget()
	// The heartbeat still keeps the lease: this may take a while.
	a.verdict = e.judge(ctx, a, err, cause)
	hold.stop() // no renewal may race the settlement
	a.journal.close()

	e.settle(context.WithoutCancel(ctx), a, outcome, err, cause) // each step has its own timeout
}

// stopGrace is how long a handler may run after its context has ended.
const stopGrace = time.Minute

// call runs the handler. A handler that does not stop after its context has ended (a parser in a loop, say) is
// abandoned: its job ends as if it had stopped, and the fence refuses what it may still write (I4). Its slot stays
// taken, because it still uses memory and processor.
func (e *Engine) call(ctx context.Context, a *attempt) (handlers.Outcome, error) {
	type answer struct {
		outcome handlers.Outcome
		err     error
	}
	answered := make(chan answer, 1)
	returned := make(chan struct{})
	e.crew.run(func() {
		defer close(returned)
		out, err := safely(a.log, func() (handlers.Outcome, error) {
			return a.handler.Handle(ctx, handlers.Call{
				Task: a.task, Holder: a.holder, Attempt: a.begun.Attempt,
				Last: a.begun.Attempt >= a.begun.MaxAttempts, Checkpoint: a.begun.Checkpoint, Progress: a.journal,
			})
		})
		answered <- answer{out, err}
	})
	select {
	case r := <-answered:
		return r.outcome, r.err
	case <-ctx.Done():
	}
	patience := time.NewTimer(stopGrace)
	defer patience.Stop()
	select {
	case r := <-answered:
		return r.outcome, r.err
	case <-patience.C:
		a.log.Error("the handler does not stop; its job ends without it, and its slot stays taken until it "+
			"returns or the worker restarts",
			event.Key, event.HandlerStuck, "cause", context.Cause(ctx))
		e.slots.occupy(returned)
		return handlers.Outcome{}, context.Cause(ctx)
	}
}

// settle ends the attempt: first the store's transaction, then the message.
func (e *Engine) settle(ctx context.Context, a *attempt, out handlers.Outcome, err, cause error) {
	defer e.uncommittedJobs.add(a.task.ID)()
	outcome, class := e.commit(ctx, a, out, err, cause)
	took := time.Since(a.started)
	e.obs.Ended(a.task.Type, Ending{
		Outcome: outcome, Class: class, Attempt: a.begun.Attempt, Took: took, JobTook: a.took, Warnings: a.warnings,
	})
	e.limits.ended(a.task.Type, a.task.ID, outcome, class, a.hint(class), took)
	a.logEnd(outcome, class, took)
	a.span.End(outcome, string(class))
}

func (e *Engine) commit(
	ctx context.Context, a *attempt, out handlers.Outcome, err, cause error,
) (string, taskerr.Class) {
	var busy *store.BusyError
	switch {
	case err == nil:
		e.breakers.succeeded(a, out.Unused)
		return e.succeed(ctx, a, out)
	case errors.Is(cause, ErrLeaseLost) && a.verdict == blamed:
		a.failure = errDatabaseGone
		return e.retryOrFail(ctx, a, a.failure)
	case errors.Is(cause, ErrLeaseLost) || errors.Is(err, store.ErrFenced):
		return e.yield(ctx, a)
	case errors.Is(cause, ErrCanceled):
		return e.cancel(ctx, a)
	case errors.Is(cause, ErrDraining):
		return e.release(ctx, a, 0, "released for shutdown")
	case errors.As(err, &busy):
		reason := "waiting for another job on the same document"
		if busy.JobID == "" {
			reason = "waiting for room on the queue of the jobs that it submits"
		}
		return e.release(ctx, a, a.busyWait(busy), reason)
	case errors.Is(cause, ErrTimeout):
		a.failure = a.timedOut()
		return e.fail(ctx, a, a.failure, "timeout")
	}
	failure := classify(err)
	a.failure = failure
	switch {
	case !taskerr.Classes[failure.Class].Retryable:
		return e.fail(ctx, a, failure, "permanent")
	case a.verdict == spared || a.verdict == turned:
		return e.await(ctx, a, failure.Dependency, true)
	}
	return e.retryOrFail(ctx, a, failure)
}

// timedOut is the error of a task that took too long. TASK_TIMEOUT_SEC doesn't change a timeout that the sender has set.
func (a *attempt) timedOut() *taskerr.Error {
	failure := taskerr.Errorf(taskerr.Timeout, "the task exceeded its timeout (after %v)", time.Since(a.started).Round(time.Second))
	if a.task.Hints.Timeout > 0 {
		failure.Hint = "the task's hints.timeout_seconds is too short: send the task again with more, with hints.force or under " +
			"a new task_id"
	}
	return failure
}

// retryOrFail handles a retryable failure: another attempt while there are any left.
func (e *Engine) retryOrFail(ctx context.Context, a *attempt, failure *taskerr.Error) (string, taskerr.Class) {
	if a.begun.Attempt >= a.begun.MaxAttempts {
		return e.fail(ctx, a, failure, "exhausted")
	}
	return e.retry(ctx, a, failure)
}

// hint is what to check when the attempt ended with a class.
func (a *attempt) hint(class taskerr.Class) string {
	if a.failure != nil && a.failure.Class == class {
		return hint(a.failure)
	}
	return hint(&taskerr.Error{Class: class})
}

// busyWait is how long to wait for another job on the same document: about half of the time that the message has
// waited already, at least a second, at most what the store advises, which goes by how long the other job has worked and
// by how many are ahead. They are jittered: of jobs that come back together only one succeeds.
func (a *attempt) busyWait(busy *store.BusyError) time.Duration {
	half := float64(time.Since(a.msg.InsertedAt)) / 2
	return max(min(busy.RetryAfter, time.Duration(half*(0.5+rand.Float64()))), time.Second)
}
