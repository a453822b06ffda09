package engine

import (
	"context"
	"fmt"

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
	// MaxAttempts returns the attempts of a new job of a type; begin confirms them.
	MaxAttempts func(task.Type) int
}

// Submit enqueues a task. A task that was submitted before with the same payload is not sent again, unless its message
// was never sent. The error is store.ErrConflict when the id belongs to another payload.
func (s Submitter) Submit(ctx context.Context, t task.Task) (store.SubmitAnswer, error) {
	text, err := task.Encode(t)
	if err != nil {
		return store.SubmitAnswer{}, err
	}
	q := s.Queues.For(t.Priority)
	answer, err := s.Store.Submit(ctx, store.Submission{
		Task: message.Record(t, s.MaxAttempts(t.Type)), Queue: q.Name(), Message: text,
	})
	if err != nil {
		return answer, fmt.Errorf("record job %s: %w", t.ID, err)
	}
	if answer.Sent && !t.Hints.Force {
		return answer, nil
	}
	if _, err := q.Send(ctx, text, queue.SendOptions{}); err != nil {
		return answer, fmt.Errorf("send the message of job %s (it is recorded; a running worker's sweep sends it "+
			"within minutes): %w", t.ID, err)
	}
	if err := s.Store.MarkSent(ctx, t.ID); err != nil {
		return answer, fmt.Errorf("note that job %s was sent (it was; at worst it is sent again and answered as "+
			"done): %w", t.ID, err)
	}
	answer.Sent = true
	return answer, nil
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
