package engine

import (
	"context"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// begins remembers which jobs this engine has in hand, and those whose begin was asked for and never
// answered: the store may have taken it, and leased the job to an attempt that nobody makes. The next begin
// says so, and the attempt is not counted (I9).
type begins struct {
	mu         sync.Mutex
	inHand     map[string]int // messages of a job between decode and settlement
	unanswered map[string]silence
}

// silence is when the store did not answer about a job.
type silence struct {
	at   time.Time
	made bool // an attempt was made before, and its outcome not taken: it may be what the job is leased to
}

// silentFor is how long a silence is remembered: longer than any lease.
const silentFor = time.Hour

func newBegins() *begins {
	return &begins{inHand: map[string]int{}, unanswered: map[string]silence{}}
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
	b.note(jobID, b.unanswered[jobID].made)
}

// unsettled notes that the store did not take the outcome of an attempt.
func (b *begins) unsettled(jobID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(jobID, true)
}

func (b *begins) note(jobID string, made bool) {
	now := time.Now()
	for id, s := range b.unanswered {
		if now.Sub(s.at) > silentFor {
			delete(b.unanswered, id)
		}
	}
	b.unanswered[jobID] = silence{now, made}
}

// orphaned says whether an earlier begin of the job was not answered, no attempt was made since the last one that
// was, and no other message of the job is in hand.
func (b *begins) orphaned(jobID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, silent := b.unanswered[jobID]
	return silent && !s.made && b.inHand[jobID] == 1
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
