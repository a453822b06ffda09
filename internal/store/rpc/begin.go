package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Begins that come while others are under way go together: what is new of them is begun in one call, which costs
// the database a fraction of as many calls. Nobody waits for company: one that comes alone goes at once, alone.
const (
	beginsUnderWay = 2                      // calls, beyond which begins gather
	beginsTogether = 32                     // at most in one call, as many as one receive brings
	beginPatience  = 100 * time.Millisecond // after which a call no longer makes others gather: it may be stuck
)

// begins gathers calls of Begin.
type begins struct {
	mu       sync.Mutex
	underWay int
	gathered []*beginning
}

// beginning is a call of Begin that waits to go with others.
type beginning struct {
	args beginArgs
	done chan struct{}

	// From then on that it is done:
	answer *begun // nil: the job is not new, or they could not go together; it has to go alone
	err    error
}

type beginArgs struct {
	store.Begin
	LeaseMS int64 `json:"lease_ms"`
}

// begun is what aw_begin answers.
type begun struct {
	N           int                  `json:"n"` // of aw_begin_new: which of the begins this is, from 1
	Decision    store.Decision       `json:"decision"`
	Fence       int64                `json:"fence"`
	Attempt     int                  `json:"attempt"`
	MaxAttempts int                  `json:"max_attempts"`
	Progress    int                  `json:"progress"`
	State       string               `json:"state"`
	Checkpoint  json.RawMessage      `json:"checkpoint"`
	WaitMS      int64                `json:"wait_ms"`
	Worker      string               `json:"worker"`
	DeadLetter  *store.DeadLetterRef `json:"dead_letter"`
}

func (b *begun) store() store.Begun {
	return store.Begun{
		Decision: b.Decision, Fence: b.Fence, Attempt: b.Attempt, MaxAttempts: b.MaxAttempts,
		Progress: b.Progress, State: b.State, Checkpoint: orNil(b.Checkpoint),
		Wait: time.Duration(b.WaitMS) * time.Millisecond, Worker: b.Worker, DeadLetter: b.DeadLetter,
	}
}

func (c *client) Begin(ctx context.Context, b store.Begin) (store.Begun, error) {
	args := beginArgs{b, ms(b.Lease)}
	w := c.begins.join(args)
	if w == nil {
		defer c.depart()()
		return c.beginAlone(ctx, args)
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		c.begins.leave(w)
		return store.Begun{}, blame(ctx, "aw_begin", ctx.Err())
	}
	switch {
	case w.err != nil:
		return store.Begun{}, w.err
	case w.answer != nil:
		return w.answer.store(), nil
	}
	return c.beginAlone(ctx, args)
}

// join returns nil when the caller may go at once; it must depart then.
func (s *begins) join(args beginArgs) *beginning {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underWay < beginsUnderWay {
		s.underWay++
		return nil
	}
	w := &beginning{args: args, done: make(chan struct{})}
	s.gathered = append(s.gathered, w)
	return w
}

// leave takes back a begin that has not gone yet; of one that has, nobody hears the answer.
func (s *begins) leave(w *beginning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.gathered, w); i >= 0 {
		s.gathered = slices.Delete(s.gathered, i, i+1)
	}
}

// depart says that a call is under way. When it arrives, to be told by the function returned, or after
// beginPatience, those that have gathered go.
func (c *client) depart() (arrived func()) {
	next := sync.OnceFunc(func() {
		if together := c.begins.next(); together != nil {
			go c.beginTogether(together)
		}
	})
	late := time.AfterFunc(beginPatience, next)
	return func() {
		late.Stop()
		next()
	}
}

// next takes those that go now, in place of a call that was under way; nil: nobody waits.
func (s *begins) next() []*beginning {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.gathered) == 0 {
		s.underWay--
		return nil
	}
	n := min(len(s.gathered), beginsTogether)
	together := slices.Clone(s.gathered[:n])
	s.gathered = slices.Delete(s.gathered, 0, n)
	return together
}

// beginAlone decides about one message, whatever state its job is in.
func (c *client) beginAlone(ctx context.Context, args beginArgs) (store.Begun, error) {
	var answer begun
	err := c.call(ctx, "aw_begin", struct {
		tenantArg
		beginArgs
	}{c.tenant(), args}, &answer)
	if err != nil {
		return store.Begun{}, err
	}
	return answer.store(), nil
}

// beginTogether begins what is new. When the database refuses it nothing has begun, and each may go alone: what one
// message contains is nobody else's trouble. After any other error nothing is known of the outcome.
func (c *client) beginTogether(all []*beginning) {
	defer c.depart()()
	args := make([]beginArgs, len(all))
	for i, w := range all {
		args[i] = w.args
	}
	var answers []*begun
	err := c.call(context.Background(), "aw_begin_new", struct {
		tenantArg
		Begins []beginArgs `json:"begins"`
	}{c.tenant(), args}, &answers)
	if _, refused := errors.AsType[*SQLError](err); refused {
		err = nil
	}
	for _, a := range answers {
		if a.N >= 1 && a.N <= len(all) {
			all[a.N-1].answer = a
		}
	}
	for _, w := range all {
		w.err = err
		close(w.done)
	}
}
