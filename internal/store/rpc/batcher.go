package rpc

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Calls of one kind that arrive while others are in flight are sent as a batch, which saves the database most calls and
// commits. With few in flight a call is sent at once, after it has let other goroutines run: so the calls of tasks that go on
// at the same moment are sent together. That takes microseconds, or a few time slices of the scheduler where goroutines
// calculate. Each call returns when its transaction is committed.
const (
	maxInFlight   = 2                      // calls of a kind that may be in flight before others are batched
	maxBatchCalls = 32                     // in one batch: as many as one receive returns
	batchPatience = 100 * time.Millisecond // how long a call may delay others: it may be stuck
	maxYields     = 2                      // how often a call lets others run before it is sent
)

// Batcher batches calls of one kind, with arguments A and result R.
type Batcher[A, R any] struct {
	// Function names the calls in traces.
	Function string
	// Alone sends one call.
	Alone func(context.Context, A) (R, error)
	// Together sends several calls in one transaction. A nil result says that this one has to be sent alone. It does
	// not use a caller's context. An SQLError that is not Uncertain says that nothing was done.
	Together func([]A) ([]*R, error)
	// GivenUp is the error of a call whose context ended while it waited for its batch.
	GivenUp func(context.Context) error

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

// Do sends one call, alone or in a batch.
func (g *Batcher[A, R]) Do(ctx context.Context, args A) (R, error) {
	w, leads := g.enqueue(args)
	if leads {
		g.gather()
		if ctx.Err() != nil {
			g.withdraw(w)
		}
		switch all := g.next(); {
		case len(all) == 1 && all[0] == w:
			defer g.callStarted()()
			return g.Alone(ctx, args)
		case all != nil:
			go g.send(all)
		}
	}
	var none R
	_, end := tracing.Call(ctx, g.Function) // the batch does not use its callers' contexts
	select {
	case <-w.done:
		end(w.err)
	case <-ctx.Done():
		end(ctx.Err())
		g.withdraw(w)
		return none, g.GivenUp(ctx)
	}
	switch {
	case w.err != nil:
		return none, w.err
	case w.answer != nil:
		return *w.answer, nil
	}
	return g.Alone(ctx, args)
}

// enqueue adds a call to those that wait. It leads if it may be sent at once: its caller then has to send the next batch.
func (g *Batcher[A, R]) enqueue(args A) (w *waiter[A, R], leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w = &waiter[A, R]{args: args, done: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	if leads = g.inFlight < maxInFlight; leads {
		g.inFlight++
	}
	return w, leads
}

// gather lets other goroutines run while that brings calls.
func (g *Batcher[A, R]) gather() {
	for range maxYields {
		before := g.queued()
		runtime.Gosched()
		if g.queued() <= before {
			return
		}
	}
}

func (g *Batcher[A, R]) queued() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// withdraw removes a call from the queue. If it was sent, its answer is dropped.
func (g *Batcher[A, R]) withdraw(w *waiter[A, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// callStarted sends the next batch when the caller calls ended, or after batchPatience.
func (g *Batcher[A, R]) callStarted() (ended func()) {
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

// next dequeues the next batch, which replaces a call that was in flight. Nil: no call waits.
func (g *Batcher[A, R]) next() []*waiter[A, R] {
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

// send sends a batch. If the database refuses it, nothing was done and each call is sent alone, so that a bad call does
// not fail the others. After any other error the outcome is unknown.
func (g *Batcher[A, R]) send(all []*waiter[A, R]) {
	defer g.callStarted()()
	args := make([]A, len(all))
	for i, w := range all {
		args[i] = w.args
	}
	answers, err := g.Together(args)
	if raised, ok := errors.AsType[*SQLError](err); ok && !raised.Uncertain() {
		answers, err = nil, nil
	}
	for i, w := range all {
		if w.err = err; i < len(answers) {
			w.answer = answers[i]
		}
		close(w.done)
	}
}
