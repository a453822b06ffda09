package api

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

// Exhaust takes all requests that the callers so far have left, for an hour. To ask as often as that takes longer on a
// busy machine than a limit lasts.
func (a *API) Exhaust() {
	a.limits.requests.mu.Lock()
	defer a.limits.requests.mu.Unlock()
	for _, c := range a.limits.requests.callers {
		c.SetLimit(rate.Every(time.Hour))
		c.AllowN(time.Now(), int(c.Tokens()))
	}
}

// A caller may make a burst of requests, and then one whenever there is room again; others are not limited by that.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &newLimits().requests
		for i := range requestBurst {
			if wait := l.take("greedy"); wait > 0 {
				t.Fatalf("request %d waits for %v", i, wait)
			}
		}
		for range 3 {
			wait := l.take("greedy")
			if wait <= 0 || wait > time.Second/requestsPerSecond {
				t.Fatalf("one request too many waits for %v", wait)
			}
			if wait := l.take("other"); wait > 0 {
				t.Errorf("another caller waits for %v", wait)
			}
			time.Sleep(wait)
			if wait := l.take("greedy"); wait > 0 {
				t.Errorf("it waits for %v, after the wait that it was told", wait)
			}
		}
	})
}
