package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// decorrelated is a handler with the backoff of agent and ai.
type decorrelated struct{ handlerFunc }

func (d decorrelated) Spec() handlers.Spec {
	s := d.handlerFunc.Spec()
	s.Policy = job.Policy{MaxAttempts: 2, Base: time.Second, Cap: 10 * time.Second, Jitter: job.DecorrelatedJitter}
	return s
}

// waits is a store that writes down for how long jobs are to wait.
type waits struct {
	store.Jobs
	mu  sync.Mutex
	all []time.Duration
}

func (s *waits) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	s.mu.Lock()
	s.all = append(s.all, r.After)
	s.mu.Unlock()
	return s.Jobs.Retry(ctx, r)
}

// With more attempts than the policy has (RETRY_MAX_ATTEMPTS) a wait grows from the one before, although each attempt
// may be made by another worker.
func TestBackoffGrowsFromTheWaitBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxAttempts, w.cfg.Concurrency = 8, 20
		seen := &waits{Jobs: w.jobs}
		w.jobs = seen
		w.startWith(decorrelated{func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, taskerr.Errorf(taskerr.AIRateLimit, "slow down")
		}})
		const tasks = 20
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Hour)
		long := 0
		for _, wait := range seen.all {
			if wait < time.Second || wait > 10*time.Second {
				t.Errorf("a wait of %s", wait)
			}
			if wait > 3*time.Second {
				long++
			}
		}
		if len(seen.all) != 7*tasks || long < tasks { // from no wait before, none is longer than 3 s
			t.Errorf("%d of %d waits were longer than 3 s", long, len(seen.all))
		}
	})
}
