package api

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	copiesLimit = 20 * time.Second // for one search of the queue of dead letters
	mostPending = 10_000           // ids for one search
	mostNamed   = 100              // ids in one line of the log
)

// removeCopies takes the copies of dead letters off their queue, where they would stay for good, with the whole messages.
// What can't be removed holds up nobody: the rows are authoritative.
func (a *API) removeCopies(ctx context.Context, letters ...string) {
	if all, ok := ctx.Value(togetherKey{}).(*[]string); ok {
		*all = append(*all, letters...)
	} else if len(letters) > 0 {
		a.copies.remove(letters)
	}
}

// togetherKey is the context's key of the letters whose copies are removed together.
type togetherKey struct{}

// Together is for many calls, one after the other: the copies of their dead letters are removed by one search, when done
// is called.
func (c *Caller) Together(ctx context.Context) (together context.Context, done func()) {
	var letters []string
	return context.WithValue(ctx, togetherKey{}, &letters), func() { c.api.removeCopies(ctx, letters...) }
}

// copies takes copies of dead letters off their queue. One search is under way at a time, because two would hide messages
// from each other. Ids that come meanwhile are pending for the next one.
type copies struct {
	ctx   context.Context //nolint:containedctx // that of the API
	queue queue.Queue
	wait  time.Duration // that of a request, for the search for its ids
	log   *slog.Logger

	mu       sync.Mutex
	pending  *pendingCopies // nil: none
	underWay bool
	slow     bool // a search took longer than wait: until one does not, nobody waits
	searches sync.WaitGroup
}

type pendingCopies struct {
	letters []string
	over    chan struct{} // closed after the search for them
}

func newCopies(ctx context.Context, q queue.Queue, wait time.Duration, log *slog.Logger) *copies {
	return &copies{ctx: ctx, queue: q, wait: wait, log: log}
}

// remove has letters searched for. It waits for that only for a moment.
func (c *copies) remove(letters []string) {
	over, wait := c.add(letters)
	if !wait {
		return
	}
	moment := time.NewTimer(c.wait)
	defer moment.Stop()
	select {
	case <-over:
	case <-moment.C:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.slow = true
	}
}

func (c *copies) add(letters []string) (over <-chan struct{}, wait bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		c.pending = &pendingCopies{over: make(chan struct{})}
	}
	p := c.pending
	room := min(mostPending-len(p.letters), len(letters))
	p.letters = append(p.letters, letters[:room]...)
	if room < len(letters) {
		c.log.Warn("the queue is not searched for the copies of dead letters, because too many others are pending; they stay on it",
			c.named(letters[room:])...)
	}
	if !c.underWay {
		c.underWay = true
		c.searches.Go(c.search)
	}
	return p.over, !c.slow
}

// search searches until nothing is pending.
func (c *copies) search() {
	for {
		c.mu.Lock()
		p := c.pending
		c.pending = nil
		if p == nil {
			c.underWay = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		begin := time.Now()
		c.searchFor(p.letters)
		c.mu.Lock()
		c.slow = time.Since(begin) >= c.wait
		c.mu.Unlock()
		close(p.over)
	}
}

func (c *copies) searchFor(letters []string) {
	ctx, cancel := context.WithTimeout(c.ctx, copiesLimit)
	defer cancel()
	found, err := replay.RemoveCopies(ctx, c.queue, letters)
	switch {
	case err != nil:
		c.log.Warn("the queue could not be searched for the copies of dead letters; they stay on it",
			append(c.named(found.Letters), "error", err)...)
	case found.Left > 0:
		c.log.Info("copies of dead letters were not found on the queue; they were removed before, or stay on it",
			c.named(found.Letters)...)
	}
}

// named are the attributes of letters in the log.
func (c *copies) named(letters []string) []any {
	return []any{"queue", c.queue.Name(), "copies", len(letters), "dead_letters", slices.Clone(letters[:min(len(letters), mostNamed)])}
}

// end waits for the searches, after the end of their context.
func (c *copies) end() { c.searches.Wait() }
