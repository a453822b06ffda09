package queue

import (
	"context"
	"time"
)

// Probing is a queue whose rights can be tried one by one without touching anybody's messages. A right that is
// missing shows as the error that the worker would get.
type Probing interface {
	Queue
	// Create creates the queue unless it exists. Unlike Ensure it fails where that isn't allowed, also when the
	// queue exists.
	Create(ctx context.Context) error
	// SendHidden puts a message that is hidden from its first moment and expires a second after it would show
	// (whole seconds, 1 s to 7 days), and returns its lease.
	SendHidden(ctx context.Context, text string, hidden time.Duration) (Lease, error)
	// Phantom is the lease of a message that doesn't exist: extending it is ErrLeaseLost, deleting it nothing or
	// ErrLeaseLost, where these are allowed.
	Phantom() Lease
}
