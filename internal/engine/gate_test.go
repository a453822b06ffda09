package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// fault is what befalls one call of a back end.
type fault string

const (
	errorBefore fault = "error before" // not carried out
	errorAfter  fault = "error after"  // carried out, the answer lost
	hangs       fault = "hangs"        // no answer until the caller gives up
	hangsAfter  fault = "hangs after"  // the same, though it was carried out
	crashBefore fault = "crash before" // the process ends instead of it
	crashAfter  fault = "crash after"  // the process ends with its answer
)

var faults = []fault{errorBefore, errorAfter, hangs, hangsAfter, crashBefore, crashAfter}

// gate stands between an engine and all its back ends.
type gate struct {
	mu    sync.Mutex
	calls []string
	at    int           // the call that the fault befalls, from 1; 0: none
	what  fault         // of that call
	odds  func() *fault // for each call, instead of at; nil: none
	dead  bool          // the process has ended: nothing of it reaches a back end

	pending atomic.Int32 // calls under way
}

// next says what befalls a call.
func (g *gate) next(name string) fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return crashBefore
	}
	g.calls = append(g.calls, name)
	var f fault
	if g.odds != nil {
		if p := g.odds(); p != nil {
			f = *p
		}
	} else if len(g.calls) == g.at {
		f = g.what
	}
	g.dead = f == crashBefore || f == crashAfter
	return f
}

// errLost is an answer that did not come, whatever the call was.
var errLost = errors.Join(errDown, queue.ErrUncertain)

func through[T any](ctx context.Context, g *gate, name string, call func(context.Context) (T, error)) (T, error) {
	var none T
	g.pending.Add(1)
	defer g.pending.Add(-1)
	switch g.next(name) {
	case "":
		return call(ctx)
	case errorBefore, crashBefore:
		return none, errDown
	case hangs:
		<-ctx.Done()
		return none, fmt.Errorf("%w: %w", errDown, ctx.Err())
	case hangsAfter:
		_, _ = call(ctx)
		<-ctx.Done()
		return none, fmt.Errorf("%w: %w", errLost, ctx.Err())
	}
	_, _ = call(ctx)
	return none, errLost
}

func only(err error) (struct{}, error) { return struct{}{}, err }

// gatedStore is a store behind a gate.
type gatedStore struct {
	store.Jobs
	g *gate
}

func (s gatedStore) MarkSent(ctx context.Context, id, message string) error {
	_, err := through(ctx, s.g, "mark sent",
		func(ctx context.Context) (struct{}, error) { return only(s.Jobs.MarkSent(ctx, id, message)) })
	return err
}

func (s gatedStore) Sweep(ctx context.Context, o store.SweepAges, n int) (store.SweepAnswer, error) {
	return through(ctx, s.g, "sweep", func(ctx context.Context) (store.SweepAnswer, error) { return s.Jobs.Sweep(ctx, o, n) })
}

func (s gatedStore) Resend(ctx context.Context, r store.Resend) (bool, error) {
	return through(ctx, s.g, "resend", func(ctx context.Context) (bool, error) { return s.Jobs.Resend(ctx, r) })
}

func (s gatedStore) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	return through(ctx, s.g, "begin", func(ctx context.Context) (store.BeginAnswer, error) { return s.Jobs.Begin(ctx, b) })
}

func (s gatedStore) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	return through(ctx, s.g, "heartbeat",
		func(ctx context.Context) (store.HeartbeatAnswer, error) { return s.Jobs.Heartbeat(ctx, b) })
}

func (s gatedStore) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	return through(ctx, s.g, "complete",
		func(ctx context.Context) (store.Settlement, error) { return s.Jobs.Complete(ctx, c) })
}

func (s gatedStore) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	return through(ctx, s.g, "fail", func(ctx context.Context) (store.Settlement, error) { return s.Jobs.Fail(ctx, f) })
}

func (s gatedStore) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	return through(ctx, s.g, "retry", func(ctx context.Context) (store.Settlement, error) { return s.Jobs.Retry(ctx, r) })
}

func (s gatedStore) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	return through(ctx, s.g, "release", func(ctx context.Context) (
		store.Settlement, error,
	) {
		return s.Jobs.Release(ctx, r)
	})
}

func (s gatedStore) Canceled(ctx context.Context, h store.Holder, e []store.Event) (store.Settlement, error) {
	return through(ctx, s.g, "canceled",
		func(ctx context.Context) (store.Settlement, error) { return s.Jobs.Canceled(ctx, h, e) })
}

func (s gatedStore) ReleaseUnanswered(ctx context.Context, b []store.UnansweredBegins) (int, error) {
	return through(ctx, s.g, "release unanswered",
		func(ctx context.Context) (int, error) { return s.Jobs.ReleaseUnanswered(ctx, b) })
}

func (s gatedStore) Canceling(ctx context.Context, held []store.Holder) ([]store.Holder, error) {
	return through(ctx, s.g, "canceling",
		func(ctx context.Context) ([]store.Holder, error) { return s.Jobs.Canceling(ctx, held) })
}

func (s gatedStore) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	return through(ctx, s.g, "reject", func(ctx context.Context) (
		store.Settlement, error,
	) {
		return s.Jobs.Reject(ctx, r)
	})
}

func (s gatedStore) DeadLetterSent(ctx context.Context, id string) error {
	_, err := through(ctx, s.g, "dead letter sent",
		func(ctx context.Context) (struct{}, error) { return only(s.Jobs.DeadLetterSent(ctx, id)) })
	return err
}

// gatedQueue is a queue behind a gate, and so are the leases of its messages.
type gatedQueue struct {
	queue.Queue
	g *gate
}

func (q gatedQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	msgs, err := through(ctx, q.g, "receive",
		func(ctx context.Context) ([]*queue.Message, error) { return q.Queue.Receive(ctx, n, d) })
	for _, m := range msgs {
		m.Lease = gatedLease{m.Lease, q.g}
	}
	return msgs, err
}

func (q gatedQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	return through(ctx, q.g, "send", func(ctx context.Context) (string, error) { return q.Queue.Send(ctx, text, o) })
}

type gatedLease struct {
	queue.Lease
	g *gate
}

func (l gatedLease) Extend(ctx context.Context, d time.Duration) error {
	_, err := through(ctx, l.g, "extend",
		func(ctx context.Context) (struct{}, error) { return only(l.Lease.Extend(ctx, d)) })
	return err
}

func (l gatedLease) Release(ctx context.Context, d time.Duration) error {
	_, err := through(ctx, l.g, "put back",
		func(ctx context.Context) (struct{}, error) { return only(l.Lease.Release(ctx, d)) })
	return err
}

func (l gatedLease) Delete(ctx context.Context) error {
	_, err := through(ctx, l.g, "delete",
		func(ctx context.Context) (struct{}, error) { return only(l.Lease.Delete(ctx)) })
	return err
}

// behind puts the gate before everything that the next engine works with, until remove is called.
func (w *world) behind(g *gate) (remove func()) {
	jobs, queues := w.jobs, w.queues
	w.jobs = gatedStore{jobs, g}
	w.queues = engine.Queues{
		High: gatedQueue{queues.High, g}, Normal: gatedQueue{queues.Normal, g},
		Low: gatedQueue{queues.Low, g}, DeadLetter: gatedQueue{queues.DeadLetter, g},
	}
	return func() { w.jobs, w.queues = jobs, queues }
}

// sometimes lets a call in ten fail, in one of the ways.
func sometimes(seed uint64, ways []fault) func() *fault {
	rnd := rand.New(rand.NewPCG(seed, 1))
	return func() *fault {
		if rnd.IntN(10) > 0 {
			return nil
		}
		return &ways[rnd.IntN(len(ways))]
	}
}
