// Package children submits jobs in the name of a running one: it records them under that one's fence, and sends their
// messages.
package children

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	sends     = 8       // messages that are sent at a time
	callBytes = 1 << 20 // of the messages that are recorded in one call, about
	again     = 30 * time.Second
)

// Store is what a Submitter needs of the store.
type Store interface {
	SubmitChildren(ctx context.Context, h store.Holder, children []store.Submission) (since map[string]time.Time, err error)
	MarkSent(ctx context.Context, jobID, message string) error
}

// Submitter submits jobs. It is safe for concurrent use.
type Submitter struct {
	Store       Store
	Bucket      blob.Bucket // for messages that are too large for the queue
	Queue       func(task.Priority) queue.Queue
	MaxAttempts func(task.Type) int
	// Most is how many messages may wait on a queue before no more are sent there: else the jobs of one job would fill
	// it for all others.
	Most int
}

// Room returns a *store.BusyError while many messages wait on the queue of a priority.
func (s Submitter) Room(ctx context.Context, p task.Priority) error {
	n, err := s.Queue(p).Depth(ctx)
	if err != nil {
		return fmt.Errorf("ask how many messages wait: %w", err)
	}
	if n >= s.Most {
		return &store.BusyError{RetryAfter: again}
	}
	return nil
}

// Submit records the tasks as children of the holder's job, and sends their messages. A crash in between loses none: a
// sweep sends what was recorded, or the next attempt, see Send.
func (s Submitter) Submit(ctx context.Context, h store.Holder, tasks []task.Task) error {
	for len(tasks) > 0 {
		var some []store.Submission
		for size := 0; len(tasks) > 0 && len(some) < store.MaxChildren && size < callBytes; tasks = tasks[1:] {
			t := tasks[0]
			text, err := message.Write(ctx, s.Bucket, t)
			if err != nil {
				return err
			}
			size += len(text) + len(t.Payload)
			some = append(some, store.Submission{
				Task: message.Record(t, s.MaxAttempts(t.Type)), Queue: s.Queue(t.Priority).Name(), Message: text,
			})
		}
		since, err := s.Store.SubmitChildren(ctx, h, some)
		if err != nil {
			return fmt.Errorf("record them: %w", err)
		}
		var unsent []store.Child
		for _, one := range some {
			if at, waits := since[one.JobID]; waits || since == nil { // nil: the functions are older than this program
				unsent = append(unsent, store.Child{ID: one.JobID, Queue: one.Queue, Message: one.Message, Since: at})
			}
		}
		if err := s.Send(ctx, unsent); err != nil {
			return err
		}
	}
	return nil
}

// Send sends the messages of children that are recorded and not sent. Each is marked at once: a crash repeats those few
// that are on their way. All copies of a message have one identity, so begin answers the second that the job is done, also
// if it has hints.force.
func (s Submitter) Send(ctx context.Context, unsent []store.Child) error {
	queues := map[string]queue.Queue{}
	for _, p := range []task.Priority{task.PriorityHigh, task.PriorityNormal, task.PriorityLow} {
		queues[s.Queue(p).Name()] = s.Queue(p)
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(sends)
	for _, c := range unsent {
		q := queues[c.Queue]
		if q == nil { // of a setting before; a sweep knows what to do
			continue
		}
		group.Go(func() error {
			if within.Err() != nil {
				return context.Cause(within)
			}
			if err := s.send(within, q, c); err != nil {
				return fmt.Errorf("send the message of job %s: %w", c.ID, err)
			}
			if err := s.Store.MarkSent(context.WithoutCancel(within), c.ID, c.Message); err != nil {
				return fmt.Errorf("note that the message of job %s was sent: %w", c.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (s Submitter) send(ctx context.Context, q queue.Queue, c store.Child) error {
	u := store.Unsent{JobID: c.ID, Queue: c.Queue, Message: c.Message, Since: c.Since}
	_, err := q.Send(ctx, message.Identified(u, u.Message), queue.SendOptions{})
	if !errors.Is(err, queue.ErrTooLarge) {
		return err
	}
	claim, err := message.IdentifiedClaim(ctx, s.Bucket, u) // of its identity, or of the server's limit
	if err == nil {
		_, err = q.Send(ctx, claim, queue.SendOptions{})
	}
	return err
}
