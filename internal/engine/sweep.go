package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// The sweep looks for messages that got lost (I1): of a job that was recorded and whose submitter died before
// it sent the message, and of a job that waits to be picked up again long after its message should have come.
// It runs rarely, since an idle tenant must cost almost nothing: one question.
const (
	sweepEvery = 5 * time.Minute
	sweepBatch = 50 // a message may have 1 MiB
)

// overdue says when the sweep takes a job. Its message may only be waiting in a long queue, so another one is
// not sent often; begin answers the one that comes second.
var overdue = store.Overdue{
	UnsentFor:    2 * time.Minute,
	StalledFor:   10 * time.Minute,
	UnstartedFor: 24 * time.Hour,
	AgainAfter:   time.Hour,
}

func (e *Engine) sweepLoop(ctx context.Context) {
	// A worker that starts finds jobs whose messages are still on the queue: it takes what comes first.
	for revive := false; ; revive = true {
		if err := e.sweep(ctx, revive); err != nil && ctx.Err() == nil {
			e.log.Warn("can't look for lost messages, or send them again; trying again later", "error", err)
		}
		timer := time.NewTimer(jittered(sweepEvery))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// sweep goes on while it finds full batches and gets on with them. What fails with one job doesn't keep the
// others waiting.
func (e *Engine) sweep(ctx context.Context, revive bool) error {
	for {
		found, err := e.deps.Store.Sweep(ctx, overdue, sweepBatch)
		if err != nil {
			return err
		}
		for _, u := range found.Unsent {
			err = errors.Join(err, e.sendUnsent(ctx, u))
		}
		if !revive {
			return err
		}
		settled := 0
		for _, s := range found.Stalled {
			done, failed := e.revive(ctx, s)
			err = errors.Join(err, failed)
			if done {
				settled++
			}
		}
		if err != nil || settled == 0 || len(found.Stalled) < sweepBatch {
			return err
		}
	}
}

func (e *Engine) sendUnsent(ctx context.Context, u store.Unsent) error {
	q, ok := e.queueNamed(u.Queue)
	if !ok {
		e.log.Error("an unsent job names a queue that is not this tenant's", "task_id", u.JobID)
		return nil
	}
	if err := e.sendRecorded(ctx, q, u.JobID, u.Message); err != nil {
		return err
	}
	e.log.Info("sent the message of a job that was recorded and never sent", "task_id", u.JobID)
	return nil
}

// revive sends a stalled job's message again, made of its row. It says whether no sweep needs to look at the
// job for a while.
func (e *Engine) revive(ctx context.Context, s store.Stalled) (bool, error) {
	log := e.log.With("task_id", s.Job.ID, "task_type", s.Job.Type, "waits_since", s.Since)
	if s.WorkerLost {
		log = log.With("error_class", taskerr.WorkerLost)
	}
	again := store.Resend{JobID: s.Job.ID, Fence: s.Fence, Overdue: overdue}
	t, refusal := e.recorded(s)
	if refusal != nil {
		log.Error("a job's message is lost and can't be made again; cancel the job, or start a worker that takes it",
			"error", refusal.Message)
		return e.deps.Store.Resend(ctx, again) // without a message: put off
	}
	if spec := e.deps.Handlers[t.Type].Spec(); e.breakers.anyDown(spec.Needs) {
		return false, nil // its message waits for that, too
	}
	text, err := message.Write(ctx, e.deps.Bucket, t)
	if err != nil {
		return false, err
	}
	q := e.deps.Queues.For(t.Priority)
	again.Queue, again.Message = q.Name(), text
	if recorded, err := e.deps.Store.Resend(ctx, again); err != nil || !recorded {
		return false, err // or it moved on, or another worker's sweep was here first
	}
	if err := e.sendRecorded(ctx, q, s.Job.ID, text); err != nil {
		return true, err
	}
	log.Warn("sent the message of a job again that nobody picked up", "attempts", s.Job.Attempts)
	return true, nil
}

// recorded makes the task of a stalled job. The error says why its message would be refused.
func (e *Engine) recorded(s store.Stalled) (task.Task, *taskerr.Error) {
	t, err := message.Task(s.Recorded, e.cfg.ClientID)
	if err != nil {
		return t, taskerr.Errorf(taskerr.ValidationError, "its row makes no message: %v", err)
	}
	t.Hints.Force = false // it would begin another series, should the job end before the message comes
	h, ok := e.deps.Handlers[t.Type]
	if !ok {
		return t, taskerr.Errorf(taskerr.ValidationError, "this worker takes no task of that type")
	}
	if task.Fingerprint(t) != s.Fingerprint {
		return t, taskerr.Errorf(taskerr.ValidationError, "its payload has characters that the database can't keep")
	}
	if _, err := safely(e.log, func() (struct{}, error) { return struct{}{}, h.Check(t) }); err != nil {
		return t, taskerr.Classify(err)
	}
	return t, nil
}

// sendRecorded sends a recorded message, to a queue that may have been deleted, and notes that it is sent.
func (e *Engine) sendRecorded(ctx context.Context, q queue.Queue, jobID, text string) error {
	if err := sendEnsured(ctx, q, text); err != nil {
		return fmt.Errorf("send the message of job %s: %w", jobID, err)
	}
	e.Wake()
	if err := e.deps.Store.MarkSent(ctx, jobID); err != nil {
		return fmt.Errorf("note that job %s was sent: %w", jobID, err)
	}
	return nil
}

func (e *Engine) queueNamed(name string) (queue.Queue, bool) {
	for _, q := range []queue.Queue{e.deps.Queues.High, e.deps.Queues.Normal, e.deps.Queues.Low} {
		if q.Name() == name {
			return q, true
		}
	}
	return nil, false
}
