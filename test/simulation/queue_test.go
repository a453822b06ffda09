package simulation

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/queue"
)

// nothing is the answer of a call that has none.
type nothing struct{}

// wiredQueue is a queue at the end of a line.
type wiredQueue struct {
	queue.Queue
	l *line
}

func (l *line) queues() engine.Queues {
	q := l.w.queues
	return engine.Queues{
		High: wiredQueue{q.High, l}, Normal: wiredQueue{q.Normal, l}, Low: wiredQueue{q.Low, l},
		DeadLetter: wiredQueue{q.DeadLetter, l},
	}
}

func (q wiredQueue) Ensure(ctx context.Context) error {
	_, err := carry(ctx, q.l, onQueue, "ensure", q.Name(), func(ctx context.Context, _ *faultyCall) (nothing, error) {
		return nothing{}, q.Queue.Ensure(ctx)
	})
	return err
}

func (q wiredQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	return carry(ctx, q.l, onQueue, "receive", q.Name(),
		func(ctx context.Context, m *faultyCall) ([]*queue.Message, error) {
			until := time.Now().Add(visibility)
			msgs, err := q.Queue.Receive(ctx, n, m.clock(visibility))
			for _, msg := range msgs {
				q.l.w.note(q.l.name, msg.ID, "received", m.fault, nil)
				lease := &wiredLease{lease: msg.Lease, msg: msg, queue: q.Name(), l: q.l, until: until}
				msg.Lease = lease
				if q.l.w.hasty {
					_ = q.l.w.remove(ctx, lease)
				}
			}
			if m.fault == shuffled {
				m.Shuffle(len(msgs), func(i, j int) { msgs[i], msgs[j] = msgs[j], msgs[i] })
			}
			return msgs, err
		})
}

// clock is how long the queue really hides a message for d.
func (m *faultyCall) clock(d time.Duration) time.Duration {
	if m.fault != early {
		return d
	}
	return max(time.Second, m.between(d/4, d))
}

func (q wiredQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	return carry(ctx, q.l, onQueue, "send", q.Name(), func(ctx context.Context, m *faultyCall) (string, error) {
		if m.fault == shuffled {
			o.Delay += m.short(0, time.Minute)
		}
		return q.l.w.send(ctx, q.Queue, text, o)
	})
}

// wiredLease is the lease of a message, at the end of a line.
type wiredLease struct {
	lease queue.Lease
	msg   *queue.Message
	queue string
	l     *line
	until time.Time // by the worker's clock; guarded by the world's mutex
}

func (r *wiredLease) Deadline() time.Time {
	r.l.w.mu.Lock()
	defer r.l.w.mu.Unlock()
	return r.until
}

func (r *wiredLease) move(
	ctx context.Context, op string, d time.Duration, do func(context.Context, time.Duration) error,
) error {
	_, err := carry(ctx, r.l, onQueue, op, r.msg.ID, func(ctx context.Context, m *faultyCall) (nothing, error) {
		until := time.Now().Add(d)
		if m.fault == vanishes {
			r.l.w.lose(ctx, r)
		}
		err := do(ctx, m.clock(d))
		if err == nil {
			r.l.w.mu.Lock()
			r.until = until
			r.l.w.mu.Unlock()
		}
		return nothing{}, err
	})
	return err
}

func (r *wiredLease) Extend(ctx context.Context, d time.Duration) error {
	return r.move(ctx, "extend", d, r.lease.Extend)
}

func (r *wiredLease) Release(ctx context.Context, d time.Duration) error {
	return r.move(ctx, "put back", d, r.lease.Release)
}

func (r *wiredLease) Delete(ctx context.Context) error {
	_, err := carry(ctx, r.l, onQueue, "delete", r.msg.ID, func(ctx context.Context, _ *faultyCall) (nothing, error) {
		return nothing{}, r.l.w.remove(ctx, r)
	})
	return err
}

// wiredBucket is a container in memory, at the end of a line.
type wiredBucket struct {
	blob.Bucket // nil: the engine calls no other method
	l           *line
}

func (b wiredBucket) Open(ctx context.Context, name string) (blob.Properties, io.ReadCloser, error) {
	text, err := carry(ctx, b.l, onBucket, "open", name, func(context.Context, *faultyCall) (string, error) {
		b.l.w.mu.Lock()
		defer b.l.w.mu.Unlock()
		text, ok := b.l.w.blobs[name]
		if !ok {
			return "", blob.ErrNotFound
		}
		return text, nil
	})
	if err != nil {
		return blob.Properties{}, nil, err
	}
	return blob.Properties{Name: name}, io.NopCloser(strings.NewReader(text)), nil
}
