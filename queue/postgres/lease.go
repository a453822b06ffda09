package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// lease is the right to a received message: its receipt. The database checks it, so that a request may be repeated
// after a lost answer, and one that comes too late changes nothing.
type lease struct {
	reference
	queue    *pgQueue
	deadline atomic.Pointer[time.Time]
	busy     chan struct{} // a semaphore of 1; its holder owns released
	released bool
}

func newLease(q *pgQueue, id, receipt string, deadline time.Time) *lease {
	l := &lease{reference: reference{id, receipt}, queue: q, busy: make(chan struct{}, 1)}
	l.deadline.Store(&deadline)
	return l
}

// settled is the answer to a request on a lease.
type settled struct {
	Held bool `json:"held"` // the receipt was valid
	Gone bool `json:"gone"` // the message does not exist any more
}

// Deadline implements queue.Lease.
func (l *lease) Deadline() time.Time { return *l.deadline.Load() }

// Extend implements queue.Lease.
func (l *lease) Extend(ctx context.Context, visibility time.Duration) error {
	if visibility < time.Second || visibility > maxVisibility {
		return fmt.Errorf("extend the lease of message %s: visibility %s: want 1 s to 7 days", l.ID, visibility)
	}
	start := time.Now()
	_, err := l.settle(ctx, "extend", arguments{Visibility: visibility.Milliseconds()})
	if err == nil {
		deadline := start.Add(visibility)
		l.deadline.Store(&deadline)
	}
	return err
}

// Release implements queue.Lease. A delay is cut to 7 days.
func (l *lease) Release(ctx context.Context, delay time.Duration) error {
	return l.release(ctx, arguments{}, delay)
}

// ReleaseFirst implements queue.FirstReleaser.
func (l *lease) ReleaseFirst(ctx context.Context, delay time.Duration) error {
	return l.release(ctx, arguments{First: true}, delay)
}

func (l *lease) release(ctx context.Context, args arguments, delay time.Duration) error {
	args.Delay = max(0, min(delay, maxVisibility)).Milliseconds()
	_, err := l.settle(ctx, "release", args)
	return err
}

// Delete implements queue.Lease.
func (l *lease) Delete(ctx context.Context) error {
	answer, err := l.settle(ctx, "delete", arguments{})
	if answer.Gone && errors.Is(err, queue.ErrLeaseLost) {
		return nil
	}
	return err
}

// settle runs one request on the lease, and explains its error.
func (l *lease) settle(ctx context.Context, op string, args arguments) (answer settled, err error) {
	doing := fmt.Sprintf("%s message %s of", op, l.ID)
	select {
	case <-ctx.Done():
		return answer, fmt.Errorf("%s queue %q: %w", doing, l.queue.name, context.Cause(ctx))
	case l.busy <- struct{}{}:
	}
	defer func() { <-l.busy }()
	if l.released { // pgmq's receipts end only with the next receive
		return answer, fmt.Errorf("%s queue %q: it was released: %w", doing, l.queue.name, queue.ErrLeaseLost)
	}
	if op == "delete" {
		answer, err = l.queue.deletes.Do(ctx, l.reference)
	} else {
		args.Queue, args.reference = l.queue.name, l.reference
		err = l.queue.call(ctx, op, args, &answer)
	}
	switch {
	case err == nil && answer.Held:
		l.released = op == "release"
		return answer, nil
	case err == nil:
		return answer, fmt.Errorf("%s queue %q: %w", doing, l.queue.name, queue.ErrLeaseLost)
	}
	explained := l.queue.explain(ctx, doing, err)
	switch {
	case errors.Is(explained, queue.ErrNotFound):
		return answer, fmt.Errorf("%w: %w", explained, queue.ErrLeaseLost)
	case ctx.Err() == nil && outcomeOf(err) == uncertain:
		return answer, fmt.Errorf("%w: %w", explained, queue.ErrUncertain)
	}
	return answer, explained
}

func (q *pgQueue) deleteAlone(ctx context.Context, m reference) (answer settled, err error) {
	err = q.call(ctx, "delete", arguments{Queue: q.name, reference: m}, &answer)
	return answer, err
}

// deleteTogether deletes the messages whose receipts are valid, and returns nil for the others.
func (q *pgQueue) deleteTogether(all []reference) ([]*settled, error) {
	var answer struct {
		Deleted []int `json:"deleted"` // positions, from 1
	}
	err := q.call(context.Background(), "delete_all", arguments{Queue: q.name, Messages: all}, &answer)
	answers := make([]*settled, len(all))
	for _, n := range answer.Deleted {
		if n >= 1 && n <= len(all) {
			answers[n-1] = &settled{Held: true, Gone: true}
		}
	}
	return answers, err
}
