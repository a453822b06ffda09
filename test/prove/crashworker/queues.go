package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// countedQueue defines every method: one that is added to the interface doesn't compile until it is counted.
type countedQueue struct {
	c    *counter
	q    queue.Queue
	role string
}

func (w countedQueue) label(method string) string { return "queue." + method + "[" + w.role + "]" }

func (w countedQueue) Name() string { return w.q.Name() }

func (w countedQueue) Ensure(ctx context.Context) error {
	return call0(w.c, w.label("Ensure"), func() error { return w.q.Ensure(ctx) })
}

// Receive has a point of its own for an answer with messages: the number of empty answers before it is chance.
func (w countedQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	msgs, err := call(w.c, w.label("Receive"),
		func() ([]*queue.Message, error) { return w.q.Receive(ctx, n, visibility) })
	if len(msgs) > 0 {
		w.c.reach(w.c.next(w.label("Received"))+":after", verdict(err))
	}
	for _, m := range msgs {
		m.Lease = countedLease{w.c, m.Lease, w.role}
	}
	return msgs, err
}

func (w countedQueue) Send(ctx context.Context, text string, opts queue.SendOptions) (string, error) {
	return call(w.c, w.label("Send"), func() (string, error) { return w.q.Send(ctx, text, opts) })
}

func (w countedQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	return call(w.c, w.label("Peek"), func() ([]queue.Peeked, error) { return w.q.Peek(ctx, n) })
}

func (w countedQueue) Depth(ctx context.Context) (int, error) {
	return call(w.c, w.label("Depth"), func() (int, error) { return w.q.Depth(ctx) })
}

type countedLease struct {
	c    *counter
	l    queue.Lease
	role string
}

func (w countedLease) label(method string) string { return "lease." + method + "[" + w.role + "]" }

func (w countedLease) Deadline() time.Time { return w.l.Deadline() }

func (w countedLease) Extend(ctx context.Context, visibility time.Duration) error {
	return call0(w.c, w.label("Extend"), func() error { return w.l.Extend(ctx, visibility) })
}

func (w countedLease) Release(ctx context.Context, delay time.Duration) error {
	return call0(w.c, w.label("Release"), func() error { return w.l.Release(ctx, delay) })
}

func (w countedLease) ReleaseFirst(ctx context.Context, delay time.Duration) error {
	first, ok := w.l.(queue.FirstReleaser)
	if !ok {
		return w.Release(ctx, delay)
	}
	return call0(w.c, w.label("Release"), func() error { return first.ReleaseFirst(ctx, delay) })
}

func (w countedLease) Delete(ctx context.Context) error {
	return call0(w.c, w.label("Delete"), func() error { return w.l.Delete(ctx) })
}

var (
	_ queue.Queue = countedQueue{}
	_ queue.Lease = countedLease{}

	_ queue.FirstReleaser = countedLease{}
)
