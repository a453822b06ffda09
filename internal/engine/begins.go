package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// begins remembers the begins that were asked for and never answered: the store may have taken one, and leased the
// job to an attempt that nobody makes. Every later begin of the job names them, and such an attempt is not counted
// (I9). Each is named by an id of its own, so that no attempt which is made can be taken for one.
type begins struct {
	mu         sync.Mutex
	unanswered map[string][]silence // by job, the oldest first
}

// silence is a begin that was not answered.
type silence struct {
	id string
	at time.Time
}

// A begin is remembered for longer than any lease; of a job, so many at most.
const (
	silentFor   = time.Hour
	silentAtAll = 400 // as many as an outage of an hour leaves
)

func newBegins() *begins { return &begins{unanswered: map[string][]silence{}} }

// lost notes that a begin was not answered.
func (b *begins) lost(jobID, beginID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, all := range b.unanswered {
		if now.Sub(all[len(all)-1].at) > silentFor {
			delete(b.unanswered, id)
		}
	}
	all := append(b.unanswered[jobID], silence{beginID, now})
	b.unanswered[jobID] = slices.Clone(all[max(0, len(all)-silentAtAll):])
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

// ask is store.Begin. One that is not answered may still be carried out, so it is remembered although a later one is.
func (e *Engine) ask(ctx context.Context, a *attempt) (store.Begun, error) {
	asking := e.beginning(a)
	asking.ID, asking.Unanswered = uuid.NewString(), e.begins.of(a.task.ID)
	a.asked = time.Now()
	over := e.away.call()
	b, err := e.deps.Store.Begin(ctx, asking)
	over(err != nil && !invalid(err))
	if transient(err) {
		e.begins.lost(a.task.ID, asking.ID)
	}
	return b, err
}
