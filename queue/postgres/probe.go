package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

var _ queue.Probing = (*pgQueue)(nil)

// nobody is an id and a receipt that no message has.
const nobody = "00000000-0000-0000-0000-000000000000"

// Create implements queue.Probing: Ensure's function needs the same right whether the queue exists or not.
func (q *pgQueue) Create(ctx context.Context) error { return q.Ensure(ctx) }

// SendHidden implements queue.Probing.
func (q *pgQueue) SendHidden(ctx context.Context, text string, hidden time.Duration) (queue.Lease, error) {
	if hidden < time.Second || hidden > maxVisibility {
		return nil, fmt.Errorf("send to queue %q: hidden for %s: want 1 s to 7 days", q.name, hidden)
	}
	start := time.Now()
	id, receipt, err := q.send(ctx, text, queue.SendOptions{Delay: hidden, TTL: hidden + time.Second}, true)
	if err != nil {
		return nil, err
	}
	return newLease(q, id, receipt, start.Add(hidden)), nil
}

// Phantom implements queue.Probing.
func (q *pgQueue) Phantom() queue.Lease { return newLease(q, nobody, nobody, time.Now()) }
