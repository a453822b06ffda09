package engine

import (
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

// Submitter records a job as pending before it sends its message, so that neither a crash nor a lost answer loses or
// duplicates it.
type Submitter struct {
	Store  store.Jobs
	Queues Queues
	Bucket blob.Bucket // for messages that are too large for the queue; nil: a worker's sweep sends those
	// MaxAttempts returns the attempts of a new job of a type; begin confirms them.
	MaxAttempts func(task.Type) int
}

// Submit enqueues a task. A task that was submitted before with the same payload is not sent again, unless its message
// was never sent. One that is to run later is sent by a sweep. The error is store.ErrConflict when the id belongs to another payload.
func (s Submitter) Submit(ctx context.Context, t task.Task) (store.SubmitAnswer, error) {
	recorded, err := s.Submission(t)
	if err != nil {
		return store.SubmitAnswer{}, err
	}
	answer, err := s.Store.Submit(ctx, recorded)
	if err != nil {
		return answer, fmt.Errorf("record job %s: %w", t.ID, err)
	}
	if answer.Sent && !t.Hints.Force || recorded.SendAt != nil {
		return answer, nil
	}
	if answer.Sent { // another run, whose message is in no row
		if err := s.put(ctx, recorded); err != nil {
			return answer, fmt.Errorf("send the message of job %s once more (nothing is recorded of it: repeat the submission): %w",
				t.ID, err)
		}
		return answer, nil
	}
	if err := s.Send(ctx, recorded); err != nil {
		return answer, err
	}
	answer.Sent = true
	return answer, nil
}

// Submission is what the store records of a task before its message is sent.
func (s Submitter) Submission(t task.Task) (store.Submission, error) {
	text, err := task.Encode(t)
	if err != nil {
		return store.Submission{}, err
	}
	recorded := store.Submission{
		Task: message.Record(t, s.MaxAttempts(t.Type)), Queue: s.Queues.For(t.Priority).Name(), Message: text,
	}
	if t.RunAt.After(time.Now()) {
		recorded.SendAt = &t.RunAt
	}
	return recorded, nil
}

// Send sends the message of a submission that is recorded.
func (s Submitter) Send(ctx context.Context, recorded store.Submission) error {
	id := recorded.JobID
	if err := s.put(ctx, recorded); err != nil {
		return fmt.Errorf("send the message of job %s (it is recorded; a running worker's sweep sends it "+
			"within minutes): %w", id, err)
	}
	if err := s.Store.MarkSent(ctx, id, recorded.Message); err != nil {
		return fmt.Errorf("note that job %s was sent (it was; at worst it is sent again and answered as done): %w", id, err)
	}
	return nil
}

// put puts the message of a submission on its queue.
func (s Submitter) put(ctx context.Context, recorded store.Submission) error {
	unsent := store.Unsent{JobID: recorded.JobID, Queue: recorded.Queue, Message: recorded.Message}
	return sendFitting(ctx, s.Bucket, unsent, func(text string) error {
		_, err := s.Queues.For(task.Priority(recorded.Priority)).Send(ctx, text, queue.SendOptions{})
		return err
	})
}

// sendFitting sends a recorded message with its identity; one that is too large for its queue as a claim check. Its identity,
// or a limit of the queue's server, can make it so. Without a bucket there are no claim checks.
func sendFitting(ctx context.Context, bucket blob.Bucket, u store.Unsent, send func(text string) error) error {
	err := send(message.Identified(u, u.Message))
	if !errors.Is(err, queue.ErrTooLarge) || bucket == nil {
		return err
	}
	claim, err := message.IdentifiedClaim(ctx, bucket, u)
	if err != nil {
		return err
	}
	return send(claim)
}

// For returns the queue of a priority.
func (q Queues) For(p task.Priority) queue.Queue {
	switch p {
	case task.PriorityHigh:
		return q.High
	case task.PriorityLow:
		return q.Low
	default:
		return q.Normal
	}
}
