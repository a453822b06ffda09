package nats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
)

// Acknowledgements, sent as requests to the message's reply subject, so that the server confirms them.
// Source: https://docs.nats.io/reference/reference-protocols/nats_api_reference#acknowledging-messages.
const (
	ack      = "+ACK"
	progress = "+WPI" // hides the message for the consumer's AckWait from now
)

// hide makes the server deliver the message again after delay. Until then it stays pending, so that it can still be
// acknowledged: with a delay this is the general form of progress.
func hide(delay time.Duration) string {
	if delay <= 0 {
		return "-NAK"
	}
	return fmt.Sprintf(`-NAK {"delay": %d}`, delay.Nanoseconds())
}

// lease is the right to one delivery of a message. The server can't tell a stale request, so none is sent after the
// deadline.
type lease struct {
	queue    *natsQueue
	reply    string // where acknowledgements of this delivery go
	sequence uint64 // in the stream
	deadline atomic.Pointer[time.Time]

	busy  chan struct{} // a semaphore of 1; its holder owns ended
	ended end
}

// end is how this side ended a lease.
type end string

const (
	held     end = ""
	released end = "released"
	deleted  end = "deleted"
)

func newLease(q *natsQueue, reply string, sequence uint64, deadline time.Time) *lease {
	l := &lease{queue: q, reply: reply, sequence: sequence, busy: make(chan struct{}, 1)}
	l.deadline.Store(&deadline)
	return l
}

// Deadline implements queue.Lease.
func (l *lease) Deadline() time.Time { return *l.deadline.Load() }

// Extend implements queue.Lease.
func (l *lease) Extend(ctx context.Context, visibility time.Duration) error {
	if visibility < time.Second || visibility > maxVisibility {
		return fmt.Errorf("extend the lease of message %d: visibility %s: want 1 s to 7 days", l.sequence, visibility)
	}
	return l.settle(ctx, "extend", func(ctx context.Context, w wire) error { return l.extend(ctx, w, visibility) })
}

// Release implements queue.Lease. A delay is cut to 7 days.
func (l *lease) Release(ctx context.Context, delay time.Duration) error {
	return l.settle(ctx, "release", func(ctx context.Context, w wire) error {
		err := l.ask(ctx, w, hide(min(delay, maxVisibility)))
		if err == nil {
			l.ended = released
		}
		return err
	})
}

// Delete implements queue.Lease.
func (l *lease) Delete(ctx context.Context) error {
	return l.settle(ctx, "delete", func(ctx context.Context, w wire) error {
		err := l.ask(ctx, w, ack)
		if err == nil {
			l.ended = deleted
		}
		return err
	})
}

func (l *lease) extend(ctx context.Context, w wire, visibility time.Duration) error {
	what := hide(visibility)
	if _, consumer, err := l.queue.find(ctx, w); err == nil && consumer.CachedInfo().Config.AckWait == visibility {
		what = progress
	}
	start := time.Now()
	if err := l.ask(ctx, w, what); err != nil {
		return err
	}
	deadline := start.Add(visibility)
	l.deadline.Store(&deadline)
	return nil
}

// ask sends an acknowledgement and waits until the server has it.
func (l *lease) ask(ctx context.Context, w wire, what string) error {
	_, err := w.RequestWithContext(ctx, l.reply, []byte(what))
	return err
}

// settle runs one request on the lease, and explains its error.
func (l *lease) settle(ctx context.Context, op string, run func(context.Context, wire) error) error {
	doing := fmt.Sprintf("%s message %d of", op, l.sequence)
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s queue %q: %w", doing, l.queue.name, context.Cause(ctx))
	case l.busy <- struct{}{}:
	}
	defer func() { <-l.busy }()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s queue %q: %w", doing, l.queue.name, context.Cause(ctx))
	case l.ended == deleted && op == "delete":
		return nil
	case l.ended != held:
		return fmt.Errorf("%s queue %q: it was %s: %w", doing, l.queue.name, l.ended, queue.ErrLeaseLost)
	case !time.Now().Before(l.Deadline()):
		if op == "delete" && l.isGone(ctx) {
			return nil
		}
		return fmt.Errorf("%s queue %q: its lease has ended: %w", doing, l.queue.name, queue.ErrLeaseLost)
	}
	err := l.queue.request(ctx, op, run)
	if err == nil {
		return nil
	}
	explained := l.queue.explain(ctx, doing, err)
	switch {
	case errors.Is(explained, queue.ErrNotFound):
		return fmt.Errorf("%s queue %q: stream or consumer is gone: %w", doing, l.queue.name, queue.ErrLeaseLost)
	case ctx.Err() == nil && unanswered(err):
		return fmt.Errorf("%w: %w", explained, queue.ErrUncertain)
	}
	return explained
}

// isGone reports whether the message is no longer in the stream.
func (l *lease) isGone(ctx context.Context) bool {
	var err error
	_ = l.queue.request(ctx, "peek", func(ctx context.Context, w wire) error {
		stream, _, findErr := l.queue.find(ctx, w)
		if err = findErr; err == nil {
			_, err = get(ctx, w, stream.CachedInfo().Config.Name, l.sequence, "")
		}
		return err
	})
	return errors.Is(err, jetstream.ErrMsgNotFound)
}
