package engine

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// commitTurn is how long a commit waits for its turn at most; then it goes on without it. One that hangs must not
	// hold up the others for long.
	commitTurn = time.Second
	// crowdOfCommits is more commits than a worker has under way.
	crowdOfCommits = 1 << 30
)

// turns lets a commit that failed be tried again while no other one of this worker is under way. Otherwise the commit of
// another task that takes the database down would fail this one as well, each time, and the task would be blamed for it.
type turns struct{ commits *semaphore.Weighted }

func newTurns() *turns { return &turns{semaphore.NewWeighted(crowdOfCommits)} }

// take waits until a commit may be sent, beside others or alone. got: it is so, until end is called.
func (t *turns) take(ctx context.Context, alone bool) (got bool, end func()) {
	n := int64(1)
	if alone {
		n = crowdOfCommits
	}
	if t.commits.TryAcquire(n) {
		return true, func() { t.commits.Release(n) }
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), commitTurn)
	defer done()
	if t.commits.Acquire(ctx, n) != nil {
		return false, func() {}
	}
	return true, func() { t.commits.Release(n) }
}
