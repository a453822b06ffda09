package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
)

var _ queue.Probing = (*natsQueue)(nil)

// Create implements queue.Probing: it needs the right to create streams even if the stream exists.
func (q *natsQueue) Create(ctx context.Context) error {
	err := q.request(ctx, "ensure", func(ctx context.Context, w wire) error {
		stream, err := q.findStream(ctx, w)
		if err == nil { // else Ensure creates it
			_, err = w.js.CreateStream(ctx, stream.CachedInfo().Config) // the same again changes nothing
			return err
		}
		return nil
	})
	if err != nil {
		return q.explain(ctx, "create", err)
	}
	return q.Ensure(ctx)
}

// SendHidden implements queue.Probing. JetStream gives no right to a message with its sending, so the lease can only
// delete it, by its number in the stream. Without the right to do so it expires a second after it becomes visible.
func (q *natsQueue) SendHidden(ctx context.Context, text string, hidden time.Duration) (queue.Lease, error) {
	if hidden < time.Second || hidden > maxVisibility {
		return nil, fmt.Errorf("send to queue %q: hidden for %s: want 1 s to 7 days", q.name, hidden)
	}
	sequence, err := q.send(ctx, text, queue.SendOptions{Delay: hidden, TTL: hidden + time.Second})
	if err != nil {
		return nil, err
	}
	return &hiddenMessage{queue: q, sequence: sequence, until: time.Now().Add(hidden)}, nil
}

// Phantom implements queue.Probing: the subject of its acknowledgements has the right form, so the server's permissions
// decide, but names a message far ahead of the stream's end. All its requests are progress, which needs the same right:
// the server does not answer another acknowledgement of a message that does not exist.
func (q *natsQueue) Phantom() queue.Lease { return phantom{q} }

// hiddenMessage is a message that was sent, and not received.
type hiddenMessage struct {
	queue    *natsQueue
	sequence uint64
	until    time.Time
}

// Deadline implements queue.Lease.
func (h *hiddenMessage) Deadline() time.Time { return h.until }

// Extend implements queue.Lease: there is nothing to extend.
func (h *hiddenMessage) Extend(context.Context, time.Duration) error { return nil }

// Release implements queue.Lease.
func (h *hiddenMessage) Release(context.Context, time.Duration) error { return nil }

// Delete implements queue.Lease.
func (h *hiddenMessage) Delete(ctx context.Context) error {
	err := h.queue.request(ctx, "delete", func(ctx context.Context, w wire) error {
		stream, _, err := h.queue.find(ctx, w)
		if err != nil {
			return err
		}
		return stream.DeleteMsg(ctx, h.sequence)
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		return nil // expired
	}
	return h.queue.explain(ctx, fmt.Sprintf("delete message %d of", h.sequence), err)
}

type phantom struct{ queue *natsQueue }

// Deadline implements queue.Lease.
func (phantom) Deadline() time.Time { return time.Now() }

// Extend implements queue.Lease.
func (p phantom) Extend(ctx context.Context, _ time.Duration) error {
	return p.ask(ctx, "extend")
}

// Release implements queue.Lease.
func (p phantom) Release(ctx context.Context, _ time.Duration) error {
	return p.ask(ctx, "release")
}

// Delete implements queue.Lease.
func (p phantom) Delete(ctx context.Context) error { return p.ask(ctx, "delete") }

func (p phantom) ask(ctx context.Context, op string) error {
	err := p.queue.request(ctx, op, func(ctx context.Context, w wire) error {
		_, consumer, err := p.queue.find(ctx, w)
		if err != nil {
			return err
		}
		info := consumer.CachedInfo()
		// $JS.ACK.stream.consumer.deliveries.stream sequence.consumer sequence.time.pending
		const subject = "$JS.ACK.%s.%s.1.%d.%d.%d.0"
		const far = 1 << 62
		_, err = w.RequestWithContext(ctx, fmt.Sprintf(subject, info.Stream, info.Name, far, far, time.Now().UnixNano()),
			[]byte(progress))
		return err
	})
	return p.queue.explain(ctx, op+" a message of", err)
}
