// Package upkeep removes from the store what nobody needs any more, beside the tasks and seldom: an idle tenant pays
// for a few calls a day.
package upkeep

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// Chore is one kind of upkeep.
type Chore struct {
	Name  string        // for the log, e.g. "old versions of documents"
	Every time.Duration // about; rounds of several workers drift apart
	// Due asks for a round dueAfter after it was sent to, beside those of Every; nil: nobody asks.
	Due <-chan struct{}
	// Do removes a batch and tells how much that was; more: it was a full one.
	Do func(ctx context.Context) (removed int, more bool, err error)
}

const (
	// firstWithin is how soon after the start of a worker its first round is: some time, as workers are often
	// started together.
	firstWithin = 10 * time.Minute
	// dueAfter collects what asks for a round: a worker that always has tasks has no more than one a minute.
	dueAfter = time.Minute
	// Between two batches of a round is a pause of restShare times as long as the batch took: the store has other things
	// to do, more so when it is slow.
	restShare = 4
	leastRest = 100 * time.Millisecond
	mostRest  = 10 * time.Second
)

// Run does the chores until ctx is done. What fails is logged, and tried again in the next round.
func Run(ctx context.Context, log *slog.Logger, chores ...Chore) {
	var all sync.WaitGroup
	for _, c := range chores {
		all.Go(func() { c.loop(ctx, log.With("chore", c.Name)) })
	}
	all.Wait()
}

func (c Chore) loop(ctx context.Context, log *slog.Logger) {
	wait := rand.N(min(firstWithin, c.Every))
	for c.await(ctx, wait) == nil {
		c.round(ctx, log)
		wait = retry.Jitter(c.Every, 0.1)
	}
}

// await waits for so long, or until a round is due.
func (c Chore) await(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return context.Cause(ctx)
	case <-c.Due:
		return retry.Sleep(ctx, dueAfter)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// round removes batch after batch while they are full.
func (c Chore) round(ctx context.Context, log *slog.Logger) {
	total := 0
	for {
		began := time.Now()
		n, more, err := c.Do(ctx)
		rest := min(max(restShare*time.Since(began), leastRest), mostRest)
		total += n
		if err != nil && ctx.Err() == nil {
			log.Warn("upkeep failed; trying again in some hours", "error", err)
		}
		if err != nil || !more || retry.Sleep(ctx, rest) != nil {
			break
		}
	}
	if total > 0 {
		log.Info("removed what is not needed any more", "rows", total)
	}
}
