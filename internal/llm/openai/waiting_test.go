package openai

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// What waits for the limits of a service spends none of a limit on its work, e.g. of the time of a page.
func TestWaitsAreNoWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := retry.WithLimit(t.Context(), 10*time.Second, errors.New("too slow"))
		defer cancel()
		s := &service{model: "m", timeout: time.Minute, limiter: NewLimiter(1), urgency: Bulk}
		first, err := s.limiter.Acquire(t.Context(), Bulk, "m", 1)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Second, first.Release)
		tries := 0
		if f := s.persist(ctx, func() (time.Duration, *failure) {
			took, f := s.once(ctx, Bulk, 1, false, func(ctx context.Context) error { return retry.Sleep(ctx, 4*time.Second) })
			if tries++; tries == 1 && f == nil {
				return took, &failure{passing: true, err: &taskerr.Error{Class: taskerr.ModelOverloaded, RetryAfter: 15 * time.Second}}
			}
			return took, f
		}); f != nil || tries != 2 {
			t.Errorf("%d tries: %+v", tries, f)
		}
	})
}

// The question of a search is embedded before documents, however many of them wait for the service's budget.
func TestQuestionPrecedesDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _ := account(t, llmtest.NewInProcess(llmtest.Options{}), 16)
		answered(t, e.limiter, 200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "1m0s")) // one per second
		ctx, stop := context.WithCancel(t.Context())
		documents := flood(ctx, e.limiter, Bulk, e.model, 20, func() {})
		synctest.Wait()
		start := time.Now()
		if _, err := e.Questions().Embed(t.Context(), []string{"when does the tide turn?"}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 4*time.Second { // its turn after at most one document, and its request
			t.Errorf("it took %v", took)
		}
		stop()
		documents.Wait()
	})
}

// Chats have no urgency of their own: they wait for their share, and a question takes what is free.
func TestQuestionPrecedesChats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, c := account(t, llmtest.NewInProcess(llmtest.Options{}), 8)
		ctx, stop := context.WithCancel(t.Context())
		var chats sync.WaitGroup
		for range 20 {
			chats.Go(func() { _, _ = c.Ask(ctx, llm.Question{Text: "Hello", MaxTokens: 10}) })
		}
		synctest.Wait()
		e.limiter.mu.Lock()
		flying, waiting := e.limiter.flying[Prompt], len(e.limiter.waiting[Prompt])
		e.limiter.mu.Unlock()
		if flying != 6 || waiting != 14 {
			t.Errorf("%d chats are in flight, and %d wait, want 6 and 14", flying, waiting)
		}
		start := time.Now()
		p, err := e.limiter.Acquire(t.Context(), e.Questions().urgency, e.model, 1)
		if took := time.Since(start); err != nil || took > 0 {
			t.Errorf("the question waited for %v: %v", took, err)
		} else {
			p.Release()
		}
		stop()
		chats.Wait()
	})
}
