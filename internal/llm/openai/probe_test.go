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

// A service that answers is up, whatever it thinks of the probe's question: a breaker whose probe never succeeds would
// never close. One that refuses the key or the model is not.
func TestProbeAnswered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options llmtest.Options
		fault   llmtest.Fault
		down    bool
	}{
		"a reasoning model": {options: llmtest.Options{Reasoning: true, Thinking: probeTokens}},
		"filtered":          {fault: llmtest.Fault{Status: 400, Code: "content_filter"}},
		"refused":           {fault: llmtest.Fault{Status: 400, Message: "The question is too short."}},
		"wrong key":         {fault: llmtest.WrongKey, down: true},
		"Gemini: wrong key": {fault: llmtest.Fault{Status: 400, Message: "API key not valid."}, down: true},
		"DeepSeek: model":   {fault: llmtest.Fault{Status: 400, Message: "Model Not Exist"}, down: true},
		"unknown model":     {fault: llmtest.UnknownModel, down: true},
		"a parameter":       {fault: llmtest.Fault{Status: 400, Param: "model"}, down: true},
		"overloaded":        {fault: llmtest.Overloaded, down: true},
	} {
		s := llmtest.New(t, tt.options)
		s.Script(llmtest.Overloaded, tt.fault)
		c, _ := openChat(t, s, nil)
		if err := c.Probe(t.Context()); err == nil {
			t.Errorf("%s: the probe succeeds while the service is overloaded", name)
		}
		if err := c.Probe(t.Context()); (err != nil) != tt.down {
			t.Errorf("%s: %v, want it down: %v", name, err, tt.down)
		}
	}
}
