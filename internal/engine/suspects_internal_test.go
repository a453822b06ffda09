package engine

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A suspect that tries a service runs alone among the suspects until it ends, also when another trial beside it shows that
// the service is up: if it brings the service down then, no other suspect is blamed.
func TestSuspectOnTrialRunsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tuning := &Tuning{Concurrency: 4}
		c := newBreakers(slog.New(slog.DiscardHandler), time.Minute, func() *Tuning { return tuning }, func() {}).of(taskerr.Model)
		c.state = halfOpen
		for _, id := range []string{"first", "second"} {
			c.suspects[id] = suspicion{suspectAfter, time.Now()}
		}
		enter := func(id string, admitted bool) {
			t.Helper()
			if wait := c.enter(t.Context(), id); (wait == 0) != admitted {
				t.Errorf("%s has to wait %s, want it admitted: %t", id, wait, admitted)
			}
		}
		enter("first", true)
		time.Sleep(2 * trialTime)
		began := time.Now()
		enter("plain", true)
		c.succeeds("plain", began)
		if c.state != closed {
			t.Fatalf("the breaker is %s", c.state)
		}
		enter("second", false)
		c.leave("first")
		enter("second", true)
	})
}
