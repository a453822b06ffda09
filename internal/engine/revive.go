package engine

import (
	"context"
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// revivePage reports whether it sent a message, and whether to go on, after from: not at the end, nor when all of a full page
// failed, which has one cause.
func (e *Engine) revivePage(ctx context.Context, stalled []store.Stalled, from *store.Mark) (sent, next bool, err error) {
	failures := 0
	for _, s := range stalled {
		resent, failed := e.revive(ctx, s)
		if sent = sent || resent; failed != nil {
			failures, err = failures+1, errors.Join(err, failed)
		}
	}
	if ctx.Err() != nil {
		return sent, false, err
	}
	last := from.JobID
	if *from = (store.Mark{}); len(stalled) < sweepBatch || stalled[sweepBatch-1].Job.ID == last {
		return sent, false, err // functions of the version before know no pages
	}
	*from = stalled[sweepBatch-1].Mark()
	return sent, failures < sweepBatch, err
}

// revive sends a stalled job's message again, made from its row. It reports whether it did.
func (e *Engine) revive(ctx context.Context, s store.Stalled) (sent bool, err error) {
	log := e.log.With("task_id", s.Job.ID, "task_type", s.Job.Type, "waits_since", s.Since)
	if s.WorkerLost {
		log = log.With("error_class", taskerr.WorkerLost)
	}
	again := store.Resend{JobID: s.Job.ID, Fence: s.Fence, Ages: overdue}
	t, needs, refusal := e.recorded(s)
	if refusal != nil {
		log.Error("a job's message is lost and can't be rebuilt; cancel the job, or start a worker that takes it",
			"error", refusal.Message)
		_, err = e.deps.Store.Resend(ctx, again) // without a message: postponed
		return false, err
	}
	if e.breakers.anyDown(t.ID, needs) || e.deferred.waits(t.ID) {
		return false, nil // its message waits for the same
	}
	text, err := message.Write(ctx, e.deps.Bucket, t)
	if err != nil {
		return false, err
	}
	q := e.deps.Queues.For(t.Priority)
	again.Queue, again.Message = q.Name(), text
	if recorded, err := e.deps.Store.Resend(ctx, again); err != nil || !recorded {
		return false, err // the job moved on, or another worker's sweep was first
	}
	unsent := store.Unsent{JobID: s.Job.ID, Queue: again.Queue, Message: text}
	err = sendFitting(ctx, e.deps.Bucket, unsent, func(fitting string) error {
		return e.sendRecorded(ctx, q, s.Job.ID, fitting, text)
	})
	if err != nil {
		return false, err
	}
	log.Warn("resent the message of a job that no worker had picked up", "attempts", s.Job.Attempts)
	return true, nil
}

// recorded makes the task of a stalled job, and lists what it needs. The error is why its message would be rejected.
func (e *Engine) recorded(s store.Stalled) (task.Task, []taskerr.Dependency, *taskerr.Error) {
	t, err := message.Task(s.Recorded, e.cfg.ClientID)
	if err != nil {
		return t, nil, taskerr.Errorf(taskerr.ValidationError, "a message can't be made from its row: %v", err)
	}
	t.Hints.Force = false // it would begin another series if the job ended before the message comes
	h, ok := e.tuning().Handlers[t.Type]
	if !ok {
		return t, nil, taskerr.Errorf(taskerr.ValidationError, "this worker does not take tasks of that type")
	}
	if s.Fingerprint != "" && task.Fingerprint(t) != s.Fingerprint { // aw_enqueue leaves it to begin
		return t, nil, taskerr.Errorf(taskerr.ValidationError,
			"the payload has characters that the database can't store, such as U+0000; send it without them")
	}
	if _, err := safely(e.log, func() (struct{}, error) { return struct{}{}, h.Check(t) }); err != nil {
		return t, nil, taskerr.Classify(err)
	}
	return t, specOf(h, t).Needs, nil
}
