// Package replay does again what could not be done: a dead letter's task as another job, a failed job
// under its own id. Like a submission it is recorded first, with its message, and sent after, so that
// neither a crash nor a lost answer loses or doubles it (I1, I2). It also takes the copies of dead
// letters off their queue.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Replayer works for one tenant. All fields are required but Send.
type Replayer struct {
	Store    store.Store
	Queue    func(task.Priority) queue.Queue // of tasks
	Bucket   blob.Bucket                     // holds claim checks
	ClientID string
	// MaxAttempts gives the attempts that a job of a type has.
	MaxAttempts func(task.Type) int
	// Send sends a recorded message and notes that, or leaves it to a sweep; nil: the Replayer does, and waits for the queue.
	Send func(context.Context, task.Priority, store.Submission)
}

// Options qualify Replay.
type Options struct {
	By      string     // who asks for it, for audit
	Again   bool       // replay it even if it was replayed before
	Seen    *int       // how many replays Again is meant of; nil: those that there are now
	Force   bool       // sets hints.force in the new message
	Message *task.Task // instead of the original message; its id counts only when the letter names no job
	DryRun  bool       // say what it would be, and change nothing
	SendAt  time.Time  // a worker's sweep sends the message then, or at its run_at if that is later; zero: at once
}

// Outcome is what became of a dead letter, or would become of it.
type Outcome struct {
	DeadLetterID string `json:"dead_letter_id"`
	JobID        string `json:"job_id"`
	ParentJobID  string `json:"parent_job_id,omitempty"` // the job that the letter ended
	Number       int    `json:"replay"`                  // 1 is the first replay of a line of jobs
}

// Refusal says that a message can't be sent again as it is, and what to do instead.
type Refusal struct{ Why, Next string }

func (e *Refusal) Error() string { return e.Why }

// replayedError is a store.ErrReplayed that says when, by whom and as which job.
type replayedError struct{ why string }

func (e *replayedError) Error() string { return e.why }
func (*replayedError) Unwrap() error   { return store.ErrReplayed }

// crowd is how many others may take the planned id before a replay gives up.
const crowd = 10

// Replay does a dead letter's task again, as a new job whose parent is the one that the letter ended.
// The webhook goes where the old one's went. The error is a *Refusal when the message can't be sent
// again, store.ErrReplayed when it was done again already (or by somebody else at this moment), and
// store.ErrNotFound. When the new job was recorded and its message could not be sent, the outcome is
// filled all the same: a running worker's sweep sends it.
func (r Replayer) Replay(ctx context.Context, id string, o Options) (Outcome, error) {
	d, err := r.Store.DeadLetter(ctx, id)
	if err != nil {
		return Outcome{}, fmt.Errorf("read dead letter %q: %w", id, err)
	}
	t, err := r.taskOf(ctx, d, o)
	if err != nil {
		return Outcome{}, err
	}
	taskID := t.ID
	plan, err := r.Store.PlanReplay(ctx, d.ID, taskID)
	if err != nil {
		return Outcome{}, fmt.Errorf("plan the replay of dead letter %s: %w", d.ID, err)
	}
	known := plan.Replays // "again" is meant of these
	if o.Seen != nil {
		known = *o.Seen
	}
	for others := 0; ; others++ {
		switch {
		case plan.Refusal != "" && !o.Again:
			return Outcome{}, &replayedError{plan.Refusal}
		case o.DryRun:
			return Outcome{d.ID, plan.JobID, plan.ParentJobID, plan.Number}, nil
		}
		if t.Payload, err = r.payload(ctx, t, cmp.Or(d.JobID, taskID), plan.JobID); err != nil {
			return Outcome{}, fmt.Errorf("replay dead letter %s: %w", d.ID, err)
		}
		t.ID = plan.JobID
		if t.WebhookURL == "" {
			t.WebhookURL = plan.WebhookURL
		}
		s, err := r.submission(ctx, t)
		if err != nil {
			return Outcome{}, err
		}
		if o.SendAt.After(t.RunAt) {
			s.SendAt = &o.SendAt
		}
		done, err := r.Store.Replay(ctx, store.Replay{
			Submission: s, DeadLetterID: d.ID, TaskID: taskID, Replays: known, Again: o.Again, By: o.By,
		})
		if err == nil {
			made := Outcome{d.ID, done.JobID, done.ParentJobID, done.Number}
			if s.SendAt != nil {
				return made, nil
			}
			return made, r.send(ctx, s, t.Priority)
		}
		if !errors.Is(err, store.ErrConflict) || others == crowd {
			return Outcome{}, fmt.Errorf("record the replay of dead letter %s: %w", d.ID, err)
		}
		if plan, err = r.Store.PlanReplay(ctx, d.ID, taskID); err != nil { // another letter's replay took the id
			return Outcome{}, fmt.Errorf("plan the replay of dead letter %s: %w", d.ID, err)
		}
	}
}

// Retrying says how a job is retried. The attempts count on from where they were, unless ResetAttempts or Force is set.
type Retrying struct {
	ResetAttempts bool // the attempts begin again
	Force         bool // they do, even if the job's dead letter was replayed as another job
}

// Retry queues a failed job again, under its own id. A message whose run_at is still to come is sent then. The answer
// names the dead letter that ended the job, if it is still there. Errors are those of store.Requeue, or a *Refusal.
func (r Replayer) Retry(ctx context.Context, jobID, by string, how Retrying) (j store.Job, deadLetter string, err error) {
	plan, err := r.Store.PlanRequeue(ctx, jobID)
	if err != nil {
		return store.Job{}, "", err
	}
	t, text, err := r.messageOf(ctx, plan)
	if err != nil {
		return plan.Job, "", err
	}
	s := r.submissionOf(t, text)
	j, err = r.Store.Requeue(ctx, store.Requeue{Submission: s, ResetAttempts: how.ResetAttempts, Force: how.Force, By: by})
	if err != nil {
		return plan.Job, "", fmt.Errorf("queue job %s again: %w", jobID, err)
	}
	if s.SendAt != nil {
		return j, plan.DeadLetter, nil
	}
	return j, plan.DeadLetter, r.send(ctx, s, t.Priority)
}

// send sends a recorded message and notes that it is sent.
func (r Replayer) send(ctx context.Context, s store.Submission, p task.Priority) error {
	if r.Send != nil {
		r.Send(ctx, p, s)
		return nil
	}
	q := r.Queue(p)
	err := queue.SendEnsured(ctx, q, s.Message, queue.SendOptions{})
	if errors.Is(err, queue.ErrTooLarge) { // its server has a limit of its own
		var claim string
		u := store.Unsent{JobID: s.JobID, Queue: s.Queue, Message: s.Message}
		if claim, err = message.IdentifiedClaim(ctx, r.Bucket, u); err == nil {
			err = queue.SendEnsured(ctx, q, claim, queue.SendOptions{})
		}
	}
	if err != nil {
		return fmt.Errorf("send the message of job %s (it is recorded; a running worker's sweep sends it within "+
			"minutes): %w", s.JobID, err)
	}
	if err := r.Store.MarkSent(ctx, s.JobID, s.Message); err != nil {
		return fmt.Errorf("note that job %s was sent (it was; at worst it is sent again and answered as done): %w",
			s.JobID, err)
	}
	return nil
}

func (r Replayer) submission(ctx context.Context, t task.Task) (store.Submission, error) {
	text, err := message.Write(ctx, r.Bucket, t)
	return r.submissionOf(t, text), err
}

func (r Replayer) submissionOf(t task.Task, text string) store.Submission {
	s := store.Submission{
		Task: message.Record(t, r.MaxAttempts(t.Type)), Queue: r.Queue(t.Priority).Name(), Message: text,
	}
	if t.RunAt.After(time.Now()) { // a message that was refused before its time
		s.SendAt = &t.RunAt
	}
	return s
}
