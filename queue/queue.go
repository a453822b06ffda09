// Package queue defines the message queue that the worker needs: at-least-once delivery with a visibility timeout. Back
// ends live beside it (queue/azure, queue/memory); all pass the conformance suite queue/queuetest.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxBatch is the largest number of messages that one Receive returns.
const MaxBatch = 32

// Never as SendOptions.TTL keeps a message until it is deleted.
const Never time.Duration = -1

var (
	// ErrLeaseLost reports that the lease has ended: somebody else received the message, it was deleted, or its
	// visibility timeout passed.
	ErrLeaseLost = errors.New("lease lost")
	// ErrUncertain reports that a request on a lease may or may not have been carried out: its response was lost. Treat
	// the lease as ending at its old deadline, but finish the work: the store's fencing decides.
	ErrUncertain = errors.New("outcome unknown")
	// ErrTooLarge reports that a text does not fit into a message of this queue; send a claim check.
	ErrTooLarge = errors.New("message too large")
	// ErrDenied reports that the service refuses the credentials, or lacks a right for them. Waiting does not help.
	ErrDenied = errors.New("access denied")
	// ErrLogin is the ErrDenied of credentials that the service refuses as a whole: no right can be tried with them.
	ErrLogin = fmt.Errorf("%w: wrong login", ErrDenied)
	// ErrSetting reports that a setting is wrong, here or in the service. Waiting does not help.
	ErrSetting = errors.New("wrong setting")
	// ErrNotFound reports that the queue does not exist.
	ErrNotFound = errors.New("no such queue")
)

// Service opens the queues of one tenant's account. It is safe for concurrent use.
type Service interface {
	// Queue returns the named queue without touching the network.
	Queue(name string) Queue
	// Close closes connections. Queues are not usable afterwards.
	Close() error
}

// Queue is one queue. It is safe for concurrent use. Errors other than the sentinels are (or wrap) a *taskerr.Error of
// a retryable class, or name the permission, clock or setting to fix.
type Queue interface {
	Name() string
	// Ensure creates the queue unless it exists.
	Ensure(ctx context.Context) error
	// Receive hides up to n (1-MaxBatch) visible messages for visibility (whole seconds, 1 s to 7 days) and returns
	// them; no message is not an error. It does not wait for messages.
	Receive(ctx context.Context, n int, visibility time.Duration) ([]*Message, error)
	// Send puts a message at the end and returns its id. A text that the queue's protocol can't hold (control
	// characters, invalid UTF-8) may arrive as its standard base64, which the decoder of task messages accepts.
	// ErrTooLarge refers to the stored form.
	Send(ctx context.Context, text string, opts SendOptions) (id string, err error)
	// Peek returns up to n (1-MaxBatch) messages from the front without hiding them.
	Peek(ctx context.Context, n int) ([]Peeked, error)
	// Depth returns about how many messages are in the queue, hidden ones included.
	Depth(ctx context.Context) (int, error)
}

// SendOptions qualify a Send. With the zero value the message is visible at once and kept until deleted.
type SendOptions struct {
	Delay time.Duration // until the message becomes visible
	TTL   time.Duration // zero and Never: kept until deleted
}

// Peeked is a message as seen without receiving it.
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

// Lease is the right to a received message. Its methods are safe for concurrent use and run one at a time.
type Lease interface {
	// Deadline is when the lease ends unless it is extended: local monotonic time at the start of the last successful
	// request plus the visibility requested then. Clock skew does not affect it.
	Deadline() time.Time
	// Extend hides the message for another visibility from now. It returns ErrLeaseLost or ErrUncertain.
	Extend(ctx context.Context, visibility time.Duration) error
	// Release ends the lease and makes the message visible after delay (zero: at once), with its text unchanged. It
	// returns ErrLeaseLost or ErrUncertain.
	Release(ctx context.Context, delay time.Duration) error
	// Delete removes the message. It returns ErrLeaseLost if somebody else has it, nil if it is already gone.
	Delete(ctx context.Context) error
}

// FirstReleaser is a Lease on a queue that orders the messages that wait, and those that were released with a delay, by
// the time at which they become visible. What is released without a delay comes before them.
type FirstReleaser interface {
	// ReleaseFirst is Release for a message whose task has begun: after delay it comes before those that wait.
	ReleaseFirst(ctx context.Context, delay time.Duration) error
}
