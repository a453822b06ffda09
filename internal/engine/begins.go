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

// orphaned says whether an earlier begin of the job was not answered and no other message of it is in hand.
func (b *begins) orphaned(jobID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, lost := b.unanswered[jobID]
	return lost && b.inHand[jobID] == 1
}

// answered notes that a begin of the job was.
func (b *begins) answered(jobID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.unanswered, jobID)
}

// ask is store.Begin.
func (e *Engine) ask(ctx context.Context, a *attempt) (store.Begun, error) {
	asking := e.beginning(a)
	asking.Unanswered = e.begins.orphaned(a.task.ID)
	a.asked = time.Now()
	b, err := e.deps.Store.Begin(ctx, asking)
	switch {
	case err == nil:
		e.begins.answered(a.task.ID)
	case transient(err):
		e.begins.lost(a.task.ID)
	}
	return b, err
}
