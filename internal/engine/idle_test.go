package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
)

// idleRequestsAMonth is what the README promises of a tenant without tasks, with the default settings.
const idleRequestsAMonth = 800_000

// requestCounter counts receives.
type requestCounter struct {
	engine.NopObserver
	polls atomic.Int64
}

func (c *requestCounter) Polled(string, int, int, error) { c.polls.Add(1) }

// An idle tenant costs what is documented: a simulated day, taken for a month of 30.
func TestIdleTenantCostsLittle(t *testing.T) {
	inWorld(t, func(w *world) {
		counter := &requestCounter{}
		w.observer = counter
		w.start(done)
		w.settled(24 * time.Hour)
		month := 30 * counter.polls.Load()
		t.Logf("%d requests a day, %d a month", counter.polls.Load(), month)
		if month > idleRequestsAMonth {
			t.Errorf("an idle tenant makes %d requests a month, more than the promised %d", month, idleRequestsAMonth)
		}
	})
}
