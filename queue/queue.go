// Package queue is what the worker needs of a message queue with at-least-once delivery and a
// visibility timeout. Back ends live beside it (queue/azure, queue/memory); queue/queuetest is the
// one conformance suite that each of them passes.
package queue

import (
	"context"
	"errors"
	"time"
)

// MaxBatch is the most messages that one Receive returns.
const MaxBatch = 32

// Never as SendOptions.TTL keeps a message until it is deleted.
const Never time.Duration = -1

var (
	// ErrLeaseLost says that the message is no longer ours: it was received by somebody else, it is
	// gone, or its visibility timeout passed.
	ErrLeaseLost = errors.New("queue: lease lost")
	// ErrUncertain says that a request on a lease may or may not have been carried out: its answer was
	// lost. The lease must be treated as running out at its old deadline, the work as still worth
	// finishing: the store's fence decides.
	ErrUncertain = errors.New("queue: outcome unknown")
	// ErrTooLarge says that a text does not fit into a message of this queue; send a claim check.
	ErrTooLarge = errors.New("queue: message too large")
	// ErrNotFound says that the queue does not exist.
	ErrNotFound = errors.New("queue: no such queue")
)

// Service opens the queues of one tenant's account. It is safe for concurrent use.
type Service interface {
	// Queue returns the named queue without touching the network.
	Queue(name string) Queue
	// Close gives back connections. Queues are not usable afterwards.
	Close() error
}

// Queue is one queue. It is safe for concurrent use. Every error that is not one of the sentinels
// above is (or wraps) a *taskerr.Error of a retryable class, or says in its text what permission,
// clock or setting to mend.
type Queue interface {
	Name() string
	// Ensure creates the queue unless it exists.
	Ensure(ctx context.Context) error
	// Receive hides up to n (1-MaxBatch) visible messages for visibility (whole seconds, 1 s to 7
	// days) and returns them; none is no error. It never waits for messages to come.
	Receive(ctx context.Context, n int, visibility time.Duration) ([]*Message, error)
	// Send puts a message at the end and returns its id. A text that the queue's protocol can't carry
	// (control characters, bad UTF-8) may arrive as its standard base64, which the decoder of task
	// messages accepts. ErrTooLarge counts what is stored, so after that.
	Send(ctx context.Context, text string, opts SendOptions) (id string, err error)
	// Peek returns up to n (1-MaxBatch) messages from the front without hiding them.
	Peek(ctx context.Context, n int) ([]Peeked, error)
	// Depth returns about how many messages are in the queue, hidden ones included.
	Depth(ctx context.Context) (int, error)
}

// SendOptions qualify a Send. The zero value is sent visible at once, and is kept for ever.
type SendOptions struct {
	Delay time.Duration // stays invisible for so long
	TTL   time.Duration // zero and Never: kept until deleted
}

// Peeked is a message as one sees it without receiving it.
type Peeked struct {
	ID           string
	Text         string
	DequeueCount int64
	InsertedAt   time.Time
	ExpiresAt    time.Time
}

// Message is a received message, hidden from others while its lease lasts.
type Message struct {
	Peeked
	Lease Lease
}

// Lease is the right to a received message. One goroutine at a time may be inside a method; a
// Lease sees to that itself.
type Lease interface {
	// Deadline is when the lease ends unless it is extended: local monotonic time at the start of the
	// last successful request plus the visibility then asked for. Clock skew can't move it.
	Deadline() time.Time
	// Extend hides the message for another visibility from now. ErrLeaseLost, ErrUncertain.
	Extend(ctx context.Context, visibility time.Duration) error
	// Release ends the lease and makes the message visible after delay (zero: at once), its text
	// unchanged. ErrLeaseLost, ErrUncertain.
	Release(ctx context.Context, delay time.Duration) error
	// Delete removes the message. ErrLeaseLost when somebody else has it, nil when it is gone already.
	Delete(ctx context.Context) error
}
