package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Calls of one kind that arrive while others are in flight are sent as a batch, which costs the database a fraction of
// the calls and commits. A call never waits for others to arrive: with few in flight it is sent at once, by itself.
// Each is answered when its own transaction is committed.
const (
	maxInFlight   = 2                      // calls of a kind, beyond which they are batched
	maxBatchCalls = 32                     // in one batch: as many as one receive brings
	batchPatience = 100 * time.Millisecond // after which a call no longer holds others back: it may be stuck
)

// batcher batches calls of one kind, with arguments A and result R.
type batcher[A, R any] struct {
	fn string // for errors
	// alone does one call, whatever its arguments.
	alone func(context.Context, A) (R, error)
	// together does several in one transaction; a nil result says that this one has to be sent alone. It is bound to no
	// caller's context. An SQLError says that nothing was done.
	together func([]A) ([]*R, error)

	mu       sync.Mutex
	inFlight int
	waiting  []*waiter[A, R]
}

// waiter is a call that waits for its batch.
type waiter[A, R any] struct {
	args A
	done chan struct{}

	// Valid once done is closed:
	answer *R // nil: it has to be sent alone
	err    error
}

// do does one call, alone or in a batch.
func (g *batcher[A, R]) do(ctx context.Context, args A) (R, error) {
	w := g.enqueue(args)
	if w == nil {
		defer g.callStarted()()
		return g.alone(ctx, args)
	}
	var none R
	_, end := tracing.Call(ctx, g.fn) // the batch is bound to none of its callers
	select {
	case <-w.done:
		end(w.err)
	case <-ctx.Done():
		end(ctx.Err())
		g.withdraw(w)
		return none, blame(ctx, g.fn, ctx.Err())
	}
	switch {
	case w.err != nil:
		return none, w.err
	case w.answer != nil:
		return *w.answer, nil
	}
	return g.alone(ctx, args)
}

// enqueue returns nil if the caller may send at once; it has to call callStarted then.
func (g *batcher[A, R]) enqueue(args A) *waiter[A, R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inFlight < maxInFlight {
		g.inFlight++
		return nil
	}
	w := &waiter[A, R]{args: args, done: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	return w
}

// withdraw takes back a call that has not been sent. The answer to one that has is dropped.
func (g *batcher[A, R]) withdraw(w *waiter[A, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// callStarted notes that a call is in flight. When it has ended, which the returned function reports, or after
// batchPatience, the next batch is sent.
func (g *batcher[A, R]) callStarted() (ended func()) {
	next := sync.OnceFunc(func() {
		if all := g.next(); all != nil {
			go g.send(all)
		}
	})
	late := time.AfterFunc(batchPatience, next)
	return func() {
		late.Stop()
		next()
	}
}

// next takes the calls of the next batch, in place of a call that was in flight; nil: none waits.
func (g *batcher[A, R]) next() []*waiter[A, R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.inFlight--
		return nil
	}
	n := min(len(g.waiting), maxBatchCalls)
	all := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return all
}

// send does a batch. If the database refuses it, nothing was done and each call is sent alone, so that one bad call
// fails no other. After any other error the outcome is unknown.
func (g *batcher[A, R]) send(all []*waiter[A, R]) {
	defer g.callStarted()()
	args := make([]A, len(all))
	for i, w := range all {
		args[i] = w.args
	}
	answers, err := g.together(args)
	if _, refused := errors.AsType[*SQLError](err); refused {
		answers, err = nil, nil
	}
	for i, w := range all {
		if w.err = err; i < len(answers) {
			w.answer = answers[i]
		}
		close(w.done)
	}
}
