// Package shared lets concurrent tasks share requests for embeddings. What a task pays, what it is blamed for and when it
// ends stay its own.
package shared

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// Window is how long a request waits for the inputs of other tasks, while another request is in flight.
	Window = 20 * time.Millisecond
	// maxInputs and maxBytes are the most that is put into one request, within what the embedder below sends in one.
	maxInputs = 256
	maxBytes  = 300_000 // about 100,000 tokens of most texts; of others the embedder below makes two requests
)

// Embedder shares the requests of another embedder. While none is in flight, a call is passed on at once, and so is one
// that fills half a request; others are collected for Window at most. It is safe for concurrent use.
type Embedder struct {
	llm.Embedder
	counter llm.Counter

	mu       sync.Mutex
	inFlight int
	open     *request // collects calls; nil: none does
}

// New returns an embedder whose concurrent calls share requests of e. The counter is for dividing what these cost.
func New(e llm.Embedder, counter llm.Counter) *Embedder {
	return &Embedder{Embedder: e, counter: counter}
}

// Embed implements llm.Embedder. When ctx ends it returns, but a request that others share goes on.
func (e *Embedder) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	r, c := e.join(ctx, inputs)
	if r == nil {
		return e.alone(ctx, inputs)
	}
	select {
	case a := <-c.answer:
		switch {
		case a.panicked != nil:
			panic(a.panicked) // where the task's own recovery is
		case a.alone:
			e.begin()
			return e.alone(ctx, inputs)
		}
		return a.Embeddings, a.err
	case <-ctx.Done():
		e.leave(r, c)
		return llm.Embeddings{}, fmt.Errorf("embed: %w", context.Cause(ctx))
	}
}

// alone passes on a call that begin has counted.
func (e *Embedder) alone(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	defer e.end()
	return e.Embedder.Embed(ctx, inputs)
}

func (e *Embedder) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight++
}

// end notes that a request has been answered. If it was the only one, nothing is gained by waiting any longer.
func (e *Embedder) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
	if e.inFlight == 0 && e.open != nil {
		e.send(e.open)
	}
}

// join adds a call to the request that is open; nil: the call goes alone, and is counted as in flight.
func (e *Embedder) join(ctx context.Context, inputs []string) (*request, *call) {
	c := &call{inputs: inputs, answer: make(chan answer, 1)}
	for _, input := range inputs {
		c.bytes += len(input)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	large := len(inputs) > maxInputs/2 || c.bytes > maxBytes/2
	if large || e.inFlight == 0 && e.open == nil || slices.Contains(inputs, "") {
		e.inFlight++
		return nil, nil
	}
	if e.open != nil && !e.open.fits(c) {
		e.send(e.open)
	}
	if e.open == nil {
		e.open = e.newRequest(ctx)
	}
	r := e.open
	r.add(c)
	return r, c
}

// leave takes a call out of its request, and ends a request that nobody waits for.
func (e *Embedder) leave(r *request, c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.waiting--
	if !r.sent {
		r.remove(c)
	}
	if r.waiting > 0 {
		return
	}
	r.cancel()
	if e.open == r {
		r.timer.Stop()
		e.open = nil
	}
}

// newRequest opens a request, which is sent after Window; mu is held. Its span is that of the task that opened it.
func (e *Embedder) newRequest(ctx context.Context) *request {
	r := &request{}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.timer = time.AfterFunc(Window, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.open == r {
			e.send(r)
		}
	})
	return r
}

// send closes the open request and sends it; mu is held.
func (e *Embedder) send(r *request) {
	e.open = nil
	r.timer.Stop()
	r.sent = true
	e.inFlight++
	go func() {
		defer e.end()
		defer r.cancel()
		defer func() {
			if p := recover(); p != nil {
				r.tell(func(*call) answer { return answer{panicked: p} })
			}
		}()
		e.run(r)
	}()
}

// run sends a request and answers its calls. A request that the service refuses for what is in it says nothing about
// each of its calls: they are made again, each alone.
func (e *Embedder) run(r *request) {
	var inputs []string
	for _, c := range r.calls {
		inputs = append(inputs, c.inputs...)
	}
	got, err := e.Embedder.Embed(r.ctx, inputs)
	if err != nil {
		alone := len(r.calls) > 1 && taskerr.Classify(err).Class == taskerr.ValidationError
		r.tell(func(*call) answer { return answer{err: err, alone: alone} })
		return
	}
	costs := e.divide(got.Tokens, r.calls)
	at := 0
	r.tell(func(c *call) answer {
		vectors := got.Vectors[at : at+len(c.inputs) : at+len(c.inputs)]
		at += len(c.inputs)
		return answer{Embeddings: llm.Embeddings{Vectors: vectors, Tokens: costs[c]}}
	})
}

// divide divides the tokens that a request cost among its calls, by their tokens as we count them. The sum is exact.
func (e *Embedder) divide(tokens int, calls []*call) map[*call]int {
	if len(calls) == 1 {
		return map[*call]int{calls[0]: tokens}
	}
	counted, total := map[*call]int{}, 0
	for _, c := range calls {
		for _, input := range c.inputs {
			counted[c] += max(1, e.counter.Count(input))
		}
		total += counted[c]
	}
	costs, before := map[*call]int{}, 0
	for _, c := range calls {
		upTo := before + counted[c]
		costs[c] = tokens*upTo/total - tokens*before/total
		before = upTo
	}
	return costs
}
