package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// begins remembers calls of begin that were not answered: the store may have executed one and leased the job to an
// attempt that does not exist. Every later begin of the job names them, so that such an attempt is not counted (I9).
// Each begin has its own id, so that it can't be confused with a real attempt.
type begins struct {
	mu         sync.Mutex
	unanswered map[string][]unansweredBegin // by job, the oldest first
}

// unansweredBegin is a begin that was not answered.
type unansweredBegin struct {
	id string
	at time.Time
}

// How long an unanswered begin is remembered, which is longer than any lease, and how many for each job.
const (
	unansweredKeptFor   = time.Hour
	maxUnansweredBegins = 400 // as many as an outage of an hour leaves
)

func newBegins() *begins { return &begins{unanswered: map[string][]unansweredBegin{}} }

// lost notes that a begin was not answered.
func (b *begins) lost(jobID, beginID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, all := range b.unanswered {
		if now.Sub(all[len(all)-1].at) > unansweredKeptFor {
			delete(b.unanswered, id)
		}
	}
	all := append(b.unanswered[jobID], unansweredBegin{beginID, now})
	b.unanswered[jobID] = slices.Clone(all[max(0, len(all)-maxUnansweredBegins):])
}

// of lists the begins of a job that were not answered; nil: none.
func (b *begins) of(jobID string) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.unanswered[jobID] {
		ids = append(ids, s.id)
	}
	return ids
}

// callBegin calls store.Begin. A call without an answer may still be executed, so it is remembered even when a later
// one is answered.
func (e *Engine) callBegin(ctx context.Context, a *attempt) (store.Begun, error) {
	asking := e.beginning(a)
	asking.ID, asking.Unanswered = uuid.NewString(), e.begins.of(a.task.ID)
	a.calledAt = time.Now()
	over := e.outages.call()
	b, err := e.deps.Store.Begin(ctx, asking)
	over(err != nil && !invalid(err))
	if transient(err) {
		e.begins.lost(a.task.ID, asking.ID)
	}
	return b, err
}
