package child

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// Pool is the memory that all children and decoders of a process share. A nil Pool is unlimited.
//
// There are two kinds of use, so that nothing waits forever. A stream is a program whose output is processed
// while it runs: the holder of memory for a stream may take more for a step. A step needs nothing else: the
// holder of memory for a step must not take more. Steps may use all free memory, and a part of the pool is
// reserved for them, so that one can always run and streams end. While a stream waits, steps stay within their
// part. Each use is served in order of arrival.
type Pool struct {
	total, steps int64 // bytes: of the pool, and of the part reserved for steps

	mu      sync.Mutex
	used    [2]int64     // by use
	waiting [2][]*waiter // by use, in order
	most    int64        // peak use
}

// Use is what memory is taken for.
type Use int

// The uses.
const (
	Step Use = iota
	Stream
)

// waiter waits for n bytes; ready is closed when it has them.
type waiter struct {
	n     int64
	ready chan struct{}
}

// NewPool returns a pool of the given number of bytes. A third of it is for streams.
func NewPool(total int64) *Pool { return &Pool{total: total, steps: total - total/3} }

// Largest returns the maximum of one Take, or 0 for a nil Pool, which has no maximum.
func (p *Pool) Largest(use Use) int64 {
	if p == nil {
		return 0
	}
	if use == Stream {
		return p.total - p.steps
	}
	return p.steps
}

// Take waits until n bytes are free, or ctx ends; see retry.Waiting. It takes at most Largest, and returns what it took in got.
// release, which may be called more than once, returns the memory.
func (p *Pool) Take(ctx context.Context, use Use, n int64) (got int64, release func(), err error) {
	if p == nil {
		return n, func() {}, nil
	}
	w := &waiter{min(n, p.Largest(use)), make(chan struct{})}
	p.mu.Lock()
	p.waiting[use] = append(p.waiting[use], w)
	p.serve()
	p.mu.Unlock()
	defer retry.Waiting(ctx)()
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.abandon(use, w)
		return 0, nil, fmt.Errorf("wait for memory: %w", context.Cause(ctx))
	}
	return w.n, sync.OnceFunc(func() { p.give(use, w.n) }), nil
}

// abandon removes a waiter from its queue, or returns the memory of one that was served in the meantime.
func (p *Pool) abandon(use Use, w *waiter) {
	p.mu.Lock()
	for i, other := range p.waiting[use] {
		if other == w {
			p.waiting[use] = append(p.waiting[use][:i], p.waiting[use][i+1:]...)
			p.serve() // those behind it may fit
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.give(use, w.n)
}

func (p *Pool) give(use Use, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[use] -= n
	p.serve()
}

// serve gives memory to the waiters that are next. The pool is locked.
func (p *Pool) serve() {
	for _, use := range []Use{Stream, Step} {
		for len(p.waiting[use]) > 0 && p.fits(use, p.waiting[use][0].n) {
			w := p.waiting[use][0]
			p.waiting[use] = p.waiting[use][1:]
			p.used[use] += w.n
			p.most = max(p.most, p.used[Step]+p.used[Stream])
			close(w.ready)
		}
	}
}

func (p *Pool) fits(use Use, n int64) bool {
	switch {
	case p.used[Step]+p.used[Stream]+n > p.total:
		return false
	case use == Stream:
		return p.used[Stream]+n <= p.total-p.steps
	}
	return len(p.waiting[Stream]) == 0 || p.used[Step]+n <= p.steps
}

// Most returns the peak use in bytes.
func (p *Pool) Most() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// Run runs a command as a step with the memory in its limits, and once more with the maximum of a step if that
// was not enough. command is called before each run.
func (p *Pool) Run(ctx context.Context, command func() Command) (Result, error) {
	c := command()
	result, err := p.run(ctx, c)
	if p == nil || err != nil || result.End != MemoryLimit || c.Limits.Memory >= p.Largest(Step) {
		return result, err
	}
	c = command()
	c.Limits.Memory = p.Largest(Step)
	return p.run(ctx, c)
}

func (p *Pool) run(ctx context.Context, c Command) (Result, error) {
	if p == nil {
		return Run(ctx, c)
	}
	got, release, err := p.Take(ctx, Step, c.Limits.withDefaults().Memory)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	defer release()
	c.Limits.Memory = got
	return Run(ctx, c)
}
