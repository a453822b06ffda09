package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Calls of a kind that come while others are under way go together, which costs the database a fraction of as many
// calls and commits. Nobody waits for company: one that comes alone goes at once, alone, and each is answered when
// its own transaction is committed.
const (
	callsUnderWay  = 2                      // of a kind, beyond which calls gather
	callsTogether  = 32                     // at most in one, as many as one receive brings
	gatherPatience = 100 * time.Millisecond // after which a call no longer makes others gather: it may be stuck
)

// gathering gathers calls of one kind, with arguments A and answer R.
type gathering[A, R any] struct {
	fn string // for errors
	// alone does one call, whatever is asked.
	alone func(context.Context, A) (R, error)
	// together does several in one transaction; a nil answer says that this one has to go alone. It is not bound to the
	// context of any of the callers. An SQLError says that nothing has been done.
	together func([]A) ([]*R, error)

	mu       sync.Mutex
	underWay int
	waiting  []*waiter[A, R]
}

// waiter is a call that waits to go with others.
type waiter[A, R any] struct {
	args A
	done chan struct{}

	// From then on that it is done:
	answer *R // nil: it has to go alone
	err    error
}

// do does one call, alone or with others.
func (g *gathering[A, R]) do(ctx context.Context, args A) (R, error) {
	w := g.join(args)
	if w == nil {
		defer g.depart()()
		return g.alone(ctx, args)
	}
	var none R
	_, end := tracing.Call(ctx, g.fn) // with others: the call itself is bound to none of them
	select {
	case <-w.done:
		end(w.err)
	case <-ctx.Done():
		end(ctx.Err())
		g.leave(w)
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

// join returns nil when the caller may go at once; it must depart then.
func (g *gathering[A, R]) join(args A) *waiter[A, R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.underWay < callsUnderWay {
		g.underWay++
		return nil
	}
	w := &waiter[A, R]{args: args, done: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	return w
}

// leave takes back a call that has not gone yet; of one that has, nobody hears the answer.
func (g *gathering[A, R]) leave(w *waiter[A, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// depart says that a call is under way. When it arrives, to be told by the function returned, or after
// gatherPatience, those that have gathered go.
func (g *gathering[A, R]) depart() (arrived func()) {
	next := sync.OnceFunc(func() {
		if all := g.next(); all != nil {
			go g.send(all)
		}
	})
	late := time.AfterFunc(gatherPatience, next)
	return func() {
		late.Stop()
		next()
	}
}

// next takes those that go now, in place of a call that was under way; nil: nobody waits.
func (g *gathering[A, R]) next() []*waiter[A, R] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.underWay--
		return nil
	}
	n := min(len(g.waiting), callsTogether)
	all := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return all
}

// send does gathered calls in one. When the database refuses it nothing was done, and each may go alone: what one of
// them says is nobody else's trouble. After any other error nothing is known of the outcome.
func (g *gathering[A, R]) send(all []*waiter[A, R]) {
	defer g.depart()()
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
