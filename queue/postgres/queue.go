package postgres

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	maxVisibility = 7 * 24 * time.Hour
	maxText       = 64 << 10 // the contract's limit in bytes, which is Azure's
	// lookBack is how often a receive looks at all visible messages, see aw_queue_receive.
	lookBack = 30 * time.Second
	// aftermath is how long after a failed receive no message is taken that another worker held: when the database comes
	// back, who still has the outcome of such a task writes it first, and the outage costs no attempt.
	aftermath = 10 * time.Second
)

type pgQueue struct {
	*service
	name    string
	deletes rpc.Batcher[reference, settled]

	mu     sync.Mutex
	from   cursor    // where the next receive begins to look
	looked time.Time // when one last began at the front
	failed time.Time // when one last failed
}

// cursor is where a receive begins to look, see aw_queue_receive; empty: at the front.
type cursor struct {
	After     string `json:"after,omitempty"`      // among the messages that nobody has received
	HeldAfter string `json:"held_after,omitempty"` // among those that somebody held
}

// message is a message as the functions show it.
type message struct {
	ID           string     `json:"id"`
	Text         string     `json:"text"`
	Receipt      string     `json:"receipt"`
	DequeueCount int64      `json:"dequeue_count"`
	InsertedAt   time.Time  `json:"inserted_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
}

func (m message) peeked() queue.Peeked {
	p := queue.Peeked{ID: m.ID, Text: m.Text, DequeueCount: m.DequeueCount, InsertedAt: m.InsertedAt}
	if m.ExpiresAt != nil {
		p.ExpiresAt = *m.ExpiresAt
	}
	return p
}

func newQueue(s *service, name string) *pgQueue {
	q := &pgQueue{service: s, name: name}
	q.deletes = rpc.Batcher[reference, settled]{
		Function: "aw_queue_delete", Alone: q.deleteAlone, Together: q.deleteTogether, GivenUp: context.Cause,
	}
	return q
}

// Name implements queue.Queue.
func (q *pgQueue) Name() string { return q.name }

// Ensure implements queue.Queue.
func (q *pgQueue) Ensure(ctx context.Context) error {
	return q.explain(ctx, "create", q.call(ctx, "ensure", arguments{Queue: q.name}, &struct{}{}))
}

// Receive implements queue.Queue.
func (q *pgQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if n < 1 || n > queue.MaxBatch || visibility < time.Second || visibility > maxVisibility {
		return nil, fmt.Errorf("receive from queue %q: %d messages for %s: want 1-%d for 1 s to 7 days", q.name, n,
			visibility, queue.MaxBatch)
	}
	start := time.Now()
	var answer struct {
		cursor

		Messages []message `json:"messages"`
	}
	err := q.call(ctx, "receive", arguments{
		Queue: q.name, N: n, Visibility: visibility.Milliseconds(), cursor: q.begin(start),
	}, &answer)
	q.mu.Lock()
	q.from = answer.cursor
	if err != nil {
		q.failed = time.Now()
	}
	q.mu.Unlock()
	if err != nil {
		return nil, q.explain(ctx, "receive from", err)
	}
	received := make([]*queue.Message, 0, len(answer.Messages))
	for _, m := range answer.Messages {
		received = append(received, &queue.Message{
			Peeked: m.peeked(), Lease: newLease(q, m.ID, m.Receipt, start.Add(visibility)),
		})
	}
	if q.tidy.due(len(received), start) {
		// It fails when the worker's next request would; OnRequest counts that.
		_ = q.call(ctx, "tidy", arguments{}, &struct{}{})
	}
	return received, nil
}

// begin returns where a receive begins to look.
func (q *pgQueue) begin(now time.Time) cursor {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.failed) < aftermath {
		q.looked = time.Time{} // then the next one begins at the front
		return cursor{After: q.from.After, HeldAfter: "infinity"}
	}
	if now.Sub(q.looked) >= lookBack {
		q.looked, q.from = now, cursor{}
	}
	return q.from
}

// Send implements queue.Queue.
func (q *pgQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	id, _, err := q.send(ctx, text, o, false)
	return id, err
}

func (q *pgQueue) send(
	ctx context.Context, text string, o queue.SendOptions, held bool,
) (id, receipt string, err error) {
	text = storable(text)
	if len(text) > maxText {
		return "", "", fmt.Errorf("send to queue %q: %d bytes, %d fit: %w", q.name, len(text), maxText, queue.ErrTooLarge)
	}
	var answer struct {
		ID      string `json:"id"`
		Receipt string `json:"receipt"`
	}
	err = q.call(ctx, "send", arguments{
		Queue: q.name, Text: &text, Delay: max(0, o.Delay.Milliseconds()), TTL: max(0, o.TTL.Milliseconds()), Held: held,
	}, &answer)
	return answer.ID, answer.Receipt, q.explain(ctx, "send to", err)
}

// storable returns a text that a column can hold: without NUL, in UTF-8.
func storable(text string) string {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

// Peek implements queue.Queue.
func (q *pgQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if n < 1 || n > queue.MaxBatch {
		return nil, fmt.Errorf("peek into queue %q: %d messages: want 1-%d", q.name, n, queue.MaxBatch)
	}
	var answer struct {
		Messages []message `json:"messages"`
	}
	if err := q.call(ctx, "peek", arguments{Queue: q.name, N: n}, &answer); err != nil {
		return nil, q.explain(ctx, "peek into", err)
	}
	var peeked []queue.Peeked
	for _, m := range answer.Messages {
		peeked = append(peeked, m.peeked())
	}
	return peeked, nil
}

// Depth implements queue.Queue.
func (q *pgQueue) Depth(ctx context.Context) (int, error) {
	var answer struct {
		Depth int `json:"depth"`
	}
	err := q.call(ctx, "depth", arguments{Queue: q.name}, &answer)
	return answer.Depth, q.explain(ctx, "look at", err)
}
