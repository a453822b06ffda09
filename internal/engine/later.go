package engine

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	// soon is how far ahead the start of a task may be for its message to wait on the queue. It is more than clocks
	// differ: a message that a sweep has sent in time, by the database's clock, must not be recorded once more.
	soon = time.Minute
	// maxAhead bounds how far ahead a task may start.
	maxAhead = 366 * 24 * time.Hour
)

// later settles the message of a task that starts later. It waits in the job's row, not on the queue, where it would
// expire and be received again and again: a sweep sends it in time. So does that of a job that has been done and is to be
// done again later (hints.force). It returns false if the task may start.
func (e *Engine) later(ctx context.Context, d *delivery, t task.Task) bool {
	ahead := time.Until(t.RunAt)
	switch {
	case t.RunAt.IsZero() || ahead <= 0:
		return false
	case ahead <= soon:
		d.putBack(ctx, ahead)
		return true
	case ahead > maxAhead:
		e.refuse(ctx, d, t, taskerr.Errorf(taskerr.ValidationError,
			"run_at is more than a year ahead; send the task when it is less"))
		return true
	}
	text, err := message.Fit(ctx, e.deps.Bucket, t, d.msg.Text)
	if err != nil {
		d.awaitBucket(ctx, "it starts later, and its claim check can't be written", err) // it begins at its time at the latest
		return true
	}
	answer, err := e.deps.Store.Submit(ctx, store.Submission{
		Task:  message.Record(t, e.policy(e.tuning().Handlers[t.Type].Spec()).MaxAttempts),
		Queue: d.queue.Name(), Message: text, SendAt: &t.RunAt,
	})
	switch {
	case errors.Is(err, store.ErrConflict), err == nil && !answer.Created && answer.Sent:
		return false // begin decides about a job that is known otherwise
	case errors.Is(err, store.ErrRunWaits): // the row has room for one: this one is recorded after that
		d.log.Info("another run of the job waits; this one stays on the queue", "run_at", t.RunAt)
		if !e.prolong(ctx, d, t, text) {
			d.putBack(ctx, min(ahead, longPause))
		}
	case invalid(err):
		e.refuse(ctx, d, t, taskerr.Classify(err))
	case err != nil:
		e.postpone(ctx, d, "can't record a job that starts later", err)
	default:
		d.log.Info("the task starts later; its message waits in the database", "run_at", t.RunAt)
		e.StartsAt(t.RunAt)
		d.acknowledge(ctx)
	}
	return true
}

// prolong replaces a message that expires before its task is to start. It reports whether it did.
func (e *Engine) prolong(ctx context.Context, d *delivery, t task.Task, text string) bool {
	if expires := d.msg.ExpiresAt; expires.IsZero() || expires.After(t.RunAt) {
		return false
	}
	return e.replace(ctx, d, t, text, min(time.Until(t.RunAt), longPause))
}

// replace replaces a message by a copy of its text that does not expire and is hidden for wait. It reports whether it did.
func (e *Engine) replace(ctx context.Context, d *delivery, t task.Task, text string, wait time.Duration) bool {
	o := queue.SendOptions{Delay: wait, TTL: queue.Never}
	original := task.Origin(d.source()) // whichever comes is the original message (I2)
	kept, err := task.Moved(text, original)
	if err == nil {
		err = queue.SendEnsured(ctx, d.queue, kept, o)
	}
	if errors.Is(err, queue.ErrTooLarge) { // the origin made it too large: a blob takes it, and the claim check has the origin
		if kept, err = message.Claim(ctx, e.deps.Bucket, t, kept); err == nil {
			kept, err = task.Moved(kept, original)
		}
		if err == nil {
			err = queue.SendEnsured(ctx, d.queue, kept, o)
		}
	}
	if err != nil {
		d.log.Warn("can't replace a message that may expire before its task starts; trying again when it comes back",
			"expires_at", d.msg.ExpiresAt, "error", err)
		return false
	}
	d.acknowledge(ctx)
	return true
}
