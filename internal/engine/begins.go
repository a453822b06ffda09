package engine

import (
	"context"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// begins remembers which jobs this engine has in hand, and those whose begin was asked for and never
// answered: the store may have taken it, and leased the job to an attempt that nobody makes. Such an attempt
// is given back, so that it costs none (I9).
type begins struct {
	mu         sync.Mutex
	inHand     map[string]int       // messages of a job between decode and settlement
	unanswered map[string]time.Time // when the answer was given up
}

// unansweredFor is how long an unanswered begin is remembered: longer than any lease.
const unansweredFor = time.Hour

func newBegins() *begins {
	return &begins{inHand: map[string]int{}, unanswered: map[string]time.Time{}}
}

// hold notes that a message of a job is in hand until the returned function is called.
func (b *begins) hold(jobID string) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inHand[jobID]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.inHand[jobID]--; b.inHand[jobID] == 0 {
			delete(b.inHand, jobID)
		}
	}
}

// lost notes that begin was not answered.
func (b *begins) lost(jobID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, at := range b.unanswered {
		if now.Sub(at) > unansweredFor {
			delete(b.unanswered, id)
		}
	}
	b.unanswered[jobID] = now
}

// answered says whether an earlier begin of the job was not answered and no other message of it is in hand.
// The next call says no.
func (b *begins) answered(jobID string) (orphaned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, lost := b.unanswered[jobID]
	delete(b.unanswered, jobID)
	return lost && b.inHand[jobID] == 1
}

// ask is store.Begin. When the job is leased to an attempt of this engine that it knows nothing of, since the
// answer to its begin was lost, that attempt is given back first.
func (e *Engine) ask(ctx context.Context, a *attempt) (store.Begun, error) {
	b, err := e.askOnce(ctx, a)
	if err != nil || !e.begins.answered(a.task.ID) || b.Decision != store.Leased || b.Worker != e.cfg.Worker {
		return b, err
	}
	if _, err := e.deps.Store.Release(ctx, store.Holder{JobID: a.task.ID, Fence: b.Fence}, nil); err != nil {
		a.log.Warn("can't give back an attempt whose begin was not answered; it counts when its lease ends", "error", err)
		return b, nil
	}
	a.log.Info("gave back an attempt whose begin was not answered", "fence", b.Fence)
	return e.askOnce(ctx, a)
}

func (e *Engine) askOnce(ctx context.Context, a *attempt) (store.Begun, error) {
	a.asked = time.Now()
	b, err := e.deps.Store.Begin(ctx, e.beginning(a))
	if transient(err) {
		e.begins.lost(a.task.ID)
	}
	return b, err
}
