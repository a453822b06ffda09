package memory

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// maxVisibility is Azure's limit.
const maxVisibility = 7 * 24 * time.Hour

type memoryQueue struct {
	service *Service
	name    string
}

// Name implements queue.Queue.
func (q *memoryQueue) Name() string { return q.name }

// Ensure implements queue.Queue.
func (q *memoryQueue) Ensure(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("create queue %q: %w", q.name, context.Cause(ctx))
	}
	q.service.mu.Lock()
	defer q.service.mu.Unlock()
	if q.service.queues[q.name] == nil {
		q.service.queues[q.name] = &contents{}
	}
	return nil
}

// Receive implements queue.Queue.
func (q *memoryQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if n < 1 || n > queue.MaxBatch || visibility < time.Second || visibility > maxVisibility {
		return nil, fmt.Errorf("receive from queue %q: %d messages for %s: want 1-%d for 1 s to 7 days", q.name, n,
			visibility, queue.MaxBatch)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("receive from queue %q: %w", q.name, context.Cause(ctx))
	}
	s := q.service
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	c, err := s.find(q.name, now)
	if err != nil {
		return nil, err
	}
	var received []*queue.Message
	for _, m := range c.visible(n, now, q.service.options.OldestFirst) {
		m.DequeueCount++
		m.visibleAt = now.Add(wholeSeconds(visibility))
		m.receipt = s.next()
		l := &lease{queue: q, id: m.ID, receipt: m.receipt}
		deadline := m.visibleAt
		l.deadline.Store(&deadline)
		received = append(received, &queue.Message{Peeked: m.Peeked, Lease: l})
	}
	return received, nil
}

// Send implements queue.Queue.
func (q *memoryQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if ctx.Err() != nil {
		return "", fmt.Errorf("send to queue %q: %w", q.name, context.Cause(ctx))
	}
	return q.service.send(q.name, text, o)
}

// Peek implements queue.Queue.
func (q *memoryQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if n < 1 || n > queue.MaxBatch {
		return nil, fmt.Errorf("peek into queue %q: %d messages: want 1-%d", q.name, n, queue.MaxBatch)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("peek into queue %q: %w", q.name, context.Cause(ctx))
	}
	s := q.service
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	c, err := s.find(q.name, now)
	if err != nil {
		return nil, err
	}
	var peeked []queue.Peeked
	for _, m := range c.visible(n, now, q.service.options.OldestFirst) {
		peeked = append(peeked, m.Peeked)
	}
	return peeked, nil
}

// Depth implements queue.Queue.
func (q *memoryQueue) Depth(ctx context.Context) (int, error) {
	if ctx.Err() != nil {
		return 0, fmt.Errorf("look at queue %q: %w", q.name, context.Cause(ctx))
	}
	q.service.mu.Lock()
	defer q.service.mu.Unlock()
	c, err := q.service.find(q.name, time.Now())
	if err != nil {
		return 0, err
	}
	return len(c.messages), nil
}

// lease is the lease of a message's last receipt.
type lease struct {
	queue    *memoryQueue
	id       string
	receipt  uint64 // guarded by the service's mutex, as is deleted; 0: released or deleted through this lease
	deleted  bool
	deadline atomic.Pointer[time.Time]
}

// Deadline implements queue.Lease.
func (l *lease) Deadline() time.Time { return *l.deadline.Load() }

// Extend implements queue.Lease.
func (l *lease) Extend(ctx context.Context, visibility time.Duration) error {
	if visibility < time.Second || visibility > maxVisibility {
		return fmt.Errorf("extend the lease of message %s: visibility %s: want 1 s to 7 days", l.id, visibility)
	}
	return l.move(ctx, visibility, false)
}

// Release implements queue.Lease.
func (l *lease) Release(ctx context.Context, delay time.Duration) error {
	return l.move(ctx, min(max(delay, 0), maxVisibility), true)
}

func (l *lease) move(ctx context.Context, visibility time.Duration, over bool) error {
	if ctx.Err() != nil {
		return fmt.Errorf("extend or release message %s: %w", l.id, context.Cause(ctx))
	}
	s := l.queue.service
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	_, m := l.held(now)
	if m == nil {
		return fmt.Errorf("message %s in queue %q: %w", l.id, l.queue.name, queue.ErrLeaseLost)
	}
	m.receipt = s.next()
	m.visibleAt = now.Add(wholeSeconds(visibility))
	deadline := m.visibleAt
	l.deadline.Store(&deadline)
	l.receipt = m.receipt
	if over {
		l.receipt = 0
	}
	return nil
}

// Delete implements queue.Lease.
func (l *lease) Delete(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("delete message %s: %w", l.id, context.Cause(ctx))
	}
	s := l.queue.service
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := l.held(time.Now())
	if m == nil {
		if l.deleted || c == nil || !slices.ContainsFunc(c.messages, func(m *message) bool { return m.ID == l.id }) {
			return nil
		}
		return fmt.Errorf("delete message %s from queue %q: %w", l.id, l.queue.name, queue.ErrLeaseLost)
	}
	c.messages = slices.DeleteFunc(c.messages, func(other *message) bool { return other == m })
	l.receipt, l.deleted = 0, true
	return nil
}

// held returns the queue's contents, and the message if the lease's receipt is still the last. The caller holds s.mu.
func (l *lease) held(now time.Time) (*contents, *message) {
	c, err := l.queue.service.find(l.queue.name, now)
	if err != nil {
		return nil, nil
	}
	for _, m := range c.messages {
		if m.ID == l.id && m.receipt == l.receipt {
			return c, m
		}
	}
	return c, nil
}

// wholeSeconds rounds up, as Azure does.
func wholeSeconds(d time.Duration) time.Duration {
	if rest := d % time.Second; rest > 0 {
		d += time.Second - rest
	}
	return d
}
