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
)

type pgQueue struct {
	*service
	name    string
	deletes rpc.Batcher[reference, settled]

	mu    sync.Mutex
	place place
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
	q.mu.Lock()
	from := q.place.begin(start, q.lastFailure())
	q.mu.Unlock()
	err := q.call(ctx, "receive", arguments{
		Queue: q.name, N: n, Visibility: visibility.Milliseconds(), cursor: from,
	}, &answer)
	q.mu.Lock()
	q.place.end(time.Now(), q.lastFailure(), from, answer.cursor, err)
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
