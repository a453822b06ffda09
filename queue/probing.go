package queue

import (
	"context"
	"time"
)

// Probing is a queue whose rights can be tried one by one without affecting messages. A missing right shows as the
// error that the worker would get.
type Probing interface {
	Queue
	// Create creates the queue unless it exists. Unlike Ensure it fails without the right, even if the queue exists.
	Create(ctx context.Context) error
	// SendHidden sends a message that is hidden from the start and expires one second after it becomes visible (whole
	// seconds, 1 s to 7 days), and returns its lease.
	SendHidden(ctx context.Context, text string, hidden time.Duration) (Lease, error)
	// Phantom returns the lease of a message that doesn't exist: with the rights, extending it gives ErrLeaseLost, and
	// deleting it nil or ErrLeaseLost.
	Phantom() Lease
}
