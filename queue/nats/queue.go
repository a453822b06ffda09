package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	maxVisibility = 7 * 24 * time.Hour
	// maxText is the contract's limit in bytes, which is Azure's; a server takes 1 MB by default.
	maxText = 64 << 10
)

type natsQueue struct {
	*service
	name, subject, durable string

	mu       sync.Mutex
	stream   jetstream.Stream
	consumer jetstream.Consumer
	news     announcer
}

// Name implements queue.Queue.
func (q *natsQueue) Name() string { return q.name }

func (q *natsQueue) use(stream jetstream.Stream, consumer jetstream.Consumer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stream, q.consumer = stream, consumer
}

// forget makes the next request look for stream and consumer again.
func (q *natsQueue) forget() { q.use(nil, nil) }

// anew forgets what belongs to a connection that is closed: streams and consumers are asked with it, and its subscriptions
// have ended.
func (q *natsQueue) anew() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stream, q.consumer, q.news.sub = nil, nil, nil
}

// find returns stream and consumer, and asks the server for them once.
func (q *natsQueue) find(ctx context.Context, w wire) (jetstream.Stream, jetstream.Consumer, error) {
	q.mu.Lock()
	stream, consumer := q.stream, q.consumer
	q.mu.Unlock()
	if consumer != nil {
		return stream, consumer, nil
	}
	stream, err := q.findStream(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	if consumer, err = stream.Consumer(ctx, q.durable); err != nil {
		return nil, nil, err
	}
	q.use(stream, consumer)
	return stream, consumer, nil
}

// Receive implements queue.Queue.
func (q *natsQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if n < 1 || n > queue.MaxBatch || visibility < time.Second || visibility > maxVisibility {
		return nil, fmt.Errorf("receive from queue %q: %d messages for %s: want 1-%d for 1 s to 7 days", q.name, n,
			visibility, queue.MaxBatch)
	}
	var received []*queue.Message
	err := q.request(ctx, "receive", func(ctx context.Context, w wire) error {
		_, consumer, err := q.find(ctx, w)
		if err != nil {
			return err
		}
		q.listen(w)
		for passed := 0; passed < maxPassed; {
			var hidden int
			received, hidden, err = q.fetch(ctx, w, consumer, n, visibility)
			if err != nil || len(received) > 0 || hidden == 0 {
				return err
			}
			passed += hidden
		}
		return nil
	})
	if len(received) > 0 {
		return received, nil // those that came; the error will come again
	}
	return nil, q.explain(ctx, "receive from", err)
}

// maxPassed is about how many delayed or expired messages one receive goes past.
const maxPassed = 4 * queue.MaxBatch

// fetch takes what waits, and hides again what is delayed; hidden counts those.
func (q *natsQueue) fetch(ctx context.Context, w wire, consumer jetstream.Consumer, n int, visibility time.Duration) (
	received []*queue.Message, hidden int, err error,
) {
	start := time.Now()
	delivered, err := q.pull(ctx, w, consumer, n)
	wait := consumer.CachedInfo().Config.AckWait
	for _, m := range delivered {
		message, takeErr := q.take(ctx, w, m, start, wait, visibility)
		if takeErr != nil {
			return received, hidden, takeErr
		}
		if message == nil {
			hidden++
			continue
		}
		received = append(received, message)
	}
	return received, hidden, err
}

// take makes a message of what was delivered; nil: it is not visible yet, or has expired.
func (q *natsQueue) take(ctx context.Context, w wire, m *nats.Msg, start time.Time, wait, visibility time.Duration) (
	*queue.Message, error,
) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	l := newLease(q, m.Reply, meta.Sequence.Stream, start.Add(wait))
	now := time.Now()
	expires := timeOf(m.Header, headerExpires)
	if !expires.IsZero() && now.After(expires) {
		return nil, l.ask(ctx, w, ack)
	}
	if delay := timeOf(m.Header, headerVisible).Sub(now); delay > 0 {
		return nil, l.ask(ctx, w, hide(delay))
	}
	if visibility != wait {
		if err := l.extend(ctx, w, visibility); err != nil {
			return nil, err
		}
	}
	return &queue.Message{
		Peeked: queue.Peeked{
			ID: idOf(meta.Sequence.Stream), Text: textOf(m.Header, m.Data), DequeueCount: int64(meta.NumDelivered),
			InsertedAt: meta.Timestamp, ExpiresAt: expires,
		},
		Lease: l,
	}, nil
}

func idOf(sequence uint64) string { return strconv.FormatUint(sequence, 10) }

// Send implements queue.Queue.
func (q *natsQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if o.Delay < 0 || o.Delay > maxVisibility {
		return "", fmt.Errorf("send to queue %q: delay %s: want 0 s to 7 days", q.name, o.Delay)
	}
	sequence, err := q.send(ctx, text, o)
	if err != nil {
		return "", err
	}
	return idOf(sequence), nil
}

func (q *natsQueue) send(ctx context.Context, text string, o queue.SendOptions) (sequence uint64, err error) {
	if len(text) > maxText {
		return 0, fmt.Errorf("send to queue %q: %d bytes, %d fit: %w", q.name, len(text), maxText, queue.ErrTooLarge)
	}
	m := nats.NewMsg(q.subject)
	m.Data = []byte(text)
	if o.Delay > 0 {
		setTime(m.Header, headerVisible, time.Now().Add(o.Delay))
	}
	if o.TTL > 0 {
		setTime(m.Header, headerExpires, time.Now().Add(o.TTL))
	}
	err = q.request(ctx, "send", func(ctx context.Context, w wire) error {
		// Sent once: a second request after a lost answer would be a second message.
		answer, err := w.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
		if err == nil {
			sequence = answer.Sequence
		}
		return err
	})
	return sequence, q.explain(ctx, "send to", err)
}

// Peek implements queue.Queue. JetStream does not say which messages are hidden, so it shows those that were never
// received: the consumer has passed all others.
func (q *natsQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if n < 1 || n > queue.MaxBatch {
		return nil, fmt.Errorf("peek into queue %q: %d messages: want 1-%d", q.name, n, queue.MaxBatch)
	}
	var peeked []queue.Peeked
	err := q.request(ctx, "peek", func(ctx context.Context, w wire) error {
		stream, consumer, err := q.find(ctx, w)
		if err != nil {
			return err
		}
		info, err := consumer.Info(ctx)
		if err != nil {
			return err
		}
		next := info.Delivered.Stream + 1
		for len(peeked) < n {
			m, err := get(ctx, w, stream.CachedInfo().Config.Name, next, q.subject)
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			next = m.Sequence + 1
			if timeOf(m.Header, headerVisible).After(time.Now()) {
				continue
			}
			peeked = append(peeked, queue.Peeked{
				ID: idOf(m.Sequence), Text: textOf(m.Header, m.Data), InsertedAt: m.Time,
				ExpiresAt: timeOf(m.Header, headerExpires),
			})
		}
		return nil
	})
	return peeked, q.explain(ctx, "peek into", err)
}

// Depth implements queue.Queue.
func (q *natsQueue) Depth(ctx context.Context) (int, error) {
	var depth uint64
	err := q.request(ctx, "depth", func(ctx context.Context, w wire) error {
		stream, _, err := q.find(ctx, w)
		if err != nil {
			return err
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(q.subject))
		if err != nil {
			return err
		}
		depth = info.State.Subjects[q.subject]
		return nil
	})
	return int(depth), q.explain(ctx, "look at", err)
}
