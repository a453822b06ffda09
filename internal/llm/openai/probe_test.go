package openai

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// A probe waits for no other request, so that a busy service does not look like one that is down.
func TestProbeOfBusyService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.NewInProcess(llmtest.Options{})
		e, c := account(t, s, 2)
		for _, u := range []Urgency{Prompt, Bulk} {
			p, err := e.limiter.Acquire(t.Context(), u, "m", 1)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for range 2 {
			go func() { // it waits for one of those
				if p, err := e.limiter.Acquire(ctx, Bulk, "m", 1); err == nil {
					p.Release()
				}
			}()
		}
		synctest.Wait()
		if err := e.Probe(ctx); err != nil {
			t.Errorf("embeddings: %v", err)
		}
		if err := c.Probe(ctx); err != nil {
			t.Errorf("chat: %v", err)
		}
		if n := inFlight(e.limiter); n != 2 {
			t.Errorf("%d requests are in flight, want 2", n)
		}
	})
}

// The budget that the service announces holds for probes too, which are the next to use it.
func TestProbeWaitsForBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(2)
		answered(t, l, 200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "1m0s"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer flood(ctx, l, Bulk, "m", 8, func() {}).Wait()
		defer cancel()
		synctest.Wait()
		start := time.Now()
		p, err := l.Acquire(ctx, probing, "m", 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
		if took := time.Since(start); took < time.Second/2 || took > 2*time.Second {
			t.Errorf("the probe waited %v, want about a second", took)
		}
	})
}
