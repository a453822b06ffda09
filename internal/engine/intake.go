package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// handle processes one received message from decoding to settlement.
func (e *Engine) handle(ctx context.Context, q queue.Queue, m *queue.Message) {
	d := &delivery{msg: m, queue: q, log: e.taskLog.With("queue", q.Name(), "queue_message_id", m.ID)}
	defer rescue(d.log)
	bounded, done := settling(ctx)
	defer done()

	decoded, err := e.decode(bounded, m.Text)
	e.from(d, decoded.Origin)
	if err != nil {
		e.undecoded(bounded, d, decoded.Known, err)
		return
	}
	t := decoded.Task
	d.log = d.log.With("task_id", t.ID, "task_type", t.Type)
	if d.trace = e.deps.Tracer.TraceID(t.TraceParent, t.ID); d.trace != "" {
		d.log = d.log.With("trace_id", d.trace)
	}
	if len(t.Ignored) > 0 {
		d.log.Warn("the message has unknown fields, or fields with unusable values; they are ignored", "fields",
			t.Ignored)
	}
	h, ok := e.tuning().Handlers[t.Type]
	if !ok {
		e.reject(bounded, d, rejection(t, "unknown_type", taskerr.Errorf(taskerr.ValidationError,
			"task_type %q is not supported by this worker; it takes %s", t.Type, e.typeList())))
		return
	}
	if unknown := h.Spec().Unknown(t.Payload); len(unknown) > 0 {
		d.log.Warn("the payload has unknown fields; they are ignored", "fields", unknown)
	}
	if _, err := safely(d.log, func() (struct{}, error) { return struct{}{}, h.Check(t) }); err != nil {
		e.refuse(bounded, d, t, taskerr.Classify(err))
		return
	}
	if e.route(bounded, d, decoded.Priority) {
		return
	}
	if decoded.Priority == "" {
		t.Priority = e.priorityOf(d.queue.Name())
	}
	if e.later(bounded, d, t) {
		return
	}
	if e.uncommittedJobs.contains(t.ID) {
		d.log.Debug("not started", "because", "this worker has an uncommitted outcome of the job")
		d.putBack(bounded, max(e.cfg.Lease/3, time.Second))
		return
	}
	a := &attempt{delivery: d, task: t, handler: h, spec: specOf(h, t)}
	release, deferred := e.admit(bounded, a)
	if deferred != nil {
		e.putOff(ctx, bounded, a, deferred)
		return
	}
	defer release()
	if e.begin(bounded, a) {
		e.run(ctx, a)
	}
}

// begin asks the store what to do with the message. It returns true if the task should run; otherwise it has settled
// the message.
func (e *Engine) begin(ctx context.Context, a *attempt) bool {
	b, err := e.callBegin(ctx, a)
	if invalid(err) {
		e.refuse(ctx, a.delivery, a.task, taskerr.Classify(err)) // it can never be stored
		return false
	}
	if err != nil {
		e.postpone(ctx, a.delivery, "can't begin the job", err)
		return false
	}
	e.throttle.store.began(time.Since(a.calledAt))
	e.breakers.of(taskerr.Database).seen()
	a.begun = b
	a.holder = store.Holder{JobID: a.task.ID, Fence: b.Fence}
	switch b.Decision {
	case store.Run:
		if b.First {
			e.obs.Accepted(a.task.Type, max(0, a.onQueue()))
		}
		if b.Deliveries > 0 {
			e.deps.Outbox()
		}
		return true
	case store.Leased:
		a.log.Debug("another worker has it; hiding the message", "wait", b.Wait)
		if b.Ran {
			a.putBackFirst(ctx, max(b.Wait, time.Second))
		} else { // a duplicate, which must not hold up the others for as long as the job runs
			a.putBack(ctx, max(b.Wait, time.Second))
		}
	case store.Waiting:
		a.log.Debug("not now; hiding the message", "wait", b.Wait)
		if b.Ran { // it was lost with others, and waits for one of them
			a.putBackFirst(ctx, max(b.Wait, time.Second))
		} else {
			a.putBack(ctx, max(b.Wait, time.Second))
		}
	case store.Conflict:
		e.reject(ctx, a.delivery, rejection(a.task, "conflict", &taskerr.Error{
			Class: taskerr.ValidationError, Code: "TASK_ID_CONFLICT",
			Message: "the task id belongs to a job with another payload; send the new payload under its own id",
		}))
	case store.Spent:
		e.obs.Finished(a.task.Type, Ending{
			Outcome: string(job.Failed), Class: taskerr.WorkerLost, Attempt: b.Attempt, JobTook: b.Duration,
		})
		e.deps.Outbox()
		e.bury(ctx, a.delivery, string(a.task.Type), a.task.ID, b.DeadLetter, false)
	case store.Done, store.Dropped:
		e.drop(a, b)
		e.buryAgain(ctx, a, b.DeadLetter)
	default:
		e.postpone(ctx, a.delivery, "the store answered begin with an unknown decision",
			fmt.Errorf("decision %q", b.Decision))
	}
	return false
}

// drop reports a message whose job had already ended.
func (e *Engine) drop(a *attempt, b store.BeginAnswer) {
	switch {
	case b.Duplicate:
		if b.Deliveries > 0 {
			e.deps.Outbox()
		}
		a.log.Warn("the task was sent again after it had failed; the message is dropped", "error_code",
			"TASK_ALREADY_FAILED",
			"hint", "to do the task again, send it with hints.force or under a new task_id, or run async-worker "+
				"jobs retry "+a.task.ID)
		return
	case b.Decision == store.Dropped:
		e.deps.Outbox() // a cancel, by begin or by a command, has added a webhook
		e.obs.Finished(a.task.Type, Ending{Outcome: string(job.Canceled), Attempt: b.Attempt, JobTook: b.Duration})
	}
	if job.State(b.State) == job.Pending {
		a.log.Info("the job starts later, by the message that is recorded; this one is dropped", "decision", b.Decision,
			"state", b.State)
		return
	}
	a.log.Info("the job has already ended; the message is dropped", "decision", b.Decision, "state", b.State)
}

func (e *Engine) beginning(a *attempt) store.Begin {
	return store.Begin{
		Task: message.Record(a.task, e.policy(a.spec).MaxAttempts), Force: a.task.Hints.Force, RunAt: a.task.RunAt,
		Worker: e.cfg.Worker, Lease: e.cfg.Lease, Source: a.source(), Original: a.msg.Text,
	}
}

// undecoded handles a message that is not a task: for good, or because its text can't be fetched now.
func (e *Engine) undecoded(ctx context.Context, d *delivery, known task.Known, err error) {
	if invalid, ok := errors.AsType[*task.Invalid](err); ok {
		failure := &taskerr.Error{Class: taskerr.ValidationError, Message: invalid.Error()}
		e.reject(ctx, d, knownRejection(known, string(invalid.Reason), failure))
		return
	}
	failure, ok := errors.AsType[*taskerr.Error](err)
	if !ok { // a permission or a setting, which can be fixed
		failure = &taskerr.Error{
			Class:   taskerr.DependencyUnavailable,
			Message: "the claim check's blob can't be read; the worker's log has the details", Cause: err,
		}
	}
	if !taskerr.Classes[failure.Class].Retryable || d.givenUp() {
		e.reject(ctx, d, knownRejection(known, string(failure.Class), failure))
		return
	}
	d.awaitBucket(ctx, "its claim check can't be fetched", err)
}

// refuse rejects a task for its payload, or for a bug that its payload triggers.
func (e *Engine) refuse(ctx context.Context, d *delivery, t task.Task, failure *taskerr.Error) {
	reason := "invalid_payload"
	if failure.Class == taskerr.InternalBug {
		reason = string(taskerr.InternalBug)
	}
	e.reject(ctx, d, rejection(t, reason, failure))
}

// reject records a message that can't become a task, and buries it. It has its own time: what found the fault may have
// used up the caller's.
func (e *Engine) reject(ctx context.Context, d *delivery, r store.Rejection) {
	ctx, done := settling(ctx)
	defer done()
	r.Source, r.Original, r.Worker = d.source(), d.msg.Text, e.cfg.Worker
	settled, err := e.deps.Store.Reject(ctx, r)
	if err != nil {
		e.postpone(ctx, d, "can't record a rejected message", err)
		return
	}
	e.throttle.store.succeeded()
	e.after(settled)
	again := settled.DeadLetter != nil && settled.DeadLetter.Sent // recorded and copied before
	if e.bury(ctx, d, r.Type, r.JobID, settled.DeadLetter, false) && !again && settled.State == string(job.Failed) {
		e.obs.Finished(task.Type(r.Type), Ending{Outcome: settled.State, Class: taskerr.Class(r.Error.Class)})
	}
}

// postpone handles a message that could not be begun because a service fails: it waits, costs no attempt (I9), and
// polling slows down.
func (e *Engine) postpone(ctx context.Context, d *delivery, what string, err error) {
	failure := classify(err)
	help := helpOf(failure)
	wait := e.throttle.store.failed(failure.Class, help)
	d.log.Error("a message has to wait", event.Key, event.MessageWaits, "because", what, "error", err, "wait", wait,
		"hint", help)
	d.putBack(ctx, wait)
}

// helpOf is what to do about a failure of the store.
func helpOf(failure *taskerr.Error) string {
	if failure.Hint != "" {
		return failure.Hint
	}
	return "check that the database runs, its address in the settings, and the network; it is tried again until it works"
}

func (e *Engine) typeList() string {
	names := make([]string, 0, len(e.tuning().Handlers))
	for _, t := range e.tuning().Handlers.Types() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func rejection(t task.Task, reason string, failure *taskerr.Error) store.Rejection {
	return store.Rejection{
		JobID: t.ID, Type: string(t.Type), Payload: t.Payload, WebhookURL: t.WebhookURL, RequestedBy: t.RequestedBy,
		Record: t.ID != "" && reason != "conflict", Reason: reason, Error: describe(failure, t.Type),
	}
}

func knownRejection(k task.Known, reason string, failure *taskerr.Error) store.Rejection {
	return store.Rejection{
		JobID: k.TaskID, Type: string(k.Type), Payload: k.Payload, WebhookURL: k.WebhookURL, RequestedBy: k.RequestedBy,
		Record: k.TaskID != "" && !k.OtherClient, Reason: reason, Error: describe(failure, k.Type),
	}
}
