package openai

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// How long a request of 100 tokens is held back after an answer with these headers.
func TestLimiterHoldsBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header http.Header
		want   time.Duration
	}{
		"no headers":                      {200, nil, 0},
		"budget there":                    {200, headers("x-ratelimit-remaining-requests", "5", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "100", "x-ratelimit-reset-tokens", "6m0s"), 0},
		"no requests left, limit unknown": {200, headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "12s"), 12 * time.Second},
		"no requests left, one in 20 ms":  {200, headers("x-ratelimit-limit-requests", "3000", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m0s"), 20 * time.Millisecond},
		"tokens come back evenly":         {200, headers("x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "50", "x-ratelimit-reset-tokens", "19s"), time.Second},
		"dearer than the bucket":          {200, headers("x-ratelimit-limit-tokens", "80", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "8s"), 8 * time.Second},
		"seconds without a unit":          {200, headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "3"), 3 * time.Second},
		"Retry-After":                     {429, headers("Retry-After", "7"), 7 * time.Second},
		"retry-after-ms wins":             {429, headers("Retry-After", "7", "retry-after-ms", "1500"), 1500 * time.Millisecond},
		"Retry-After as a date":           {503, headers("Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"), 9 * time.Second},
		"Retry-After of a good answer":    {200, headers("Retry-After", "7"), 0},
		"nonsense":                        {429, headers("Retry-After", "-3", "x-ratelimit-remaining-tokens", "NaN", "x-ratelimit-reset-tokens", "soon"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // its clock starts at 2000-01-01
				l := NewLimiter(1)
				l.Observe(test.status, test.header)
				start := time.Now()
				release, err := l.Acquire(t.Context(), 100)
				if err != nil {
					t.Fatal(err)
				}
				release()
				if got := time.Since(start).Round(time.Microsecond); got != test.want {
					t.Errorf("held back for %v, want %v", got, test.want)
				}
			})
		})
	}
}

// Of many that wait for the same budget, each takes its part: they don't all go when it is back.
func TestLimiterSharesTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(10)
		l.Observe(200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m0s"))
		start := time.Now()
		for range 10 {
			go func() {
				release, err := l.Acquire(t.Context(), 1)
				if err != nil {
					t.Error(err)
					return
				}
				release()
			}()
		}
		time.Sleep(5*time.Second + time.Millisecond) // the bubble's clock, not the wall's
		synctest.Wait()
		l.mu.Lock()
		level := l.requests.level
		l.mu.Unlock()
		if level > 0.1 {
			t.Errorf("after %v the budget stands at %g: somebody waits longer than needed", time.Since(start), level)
		}
		for range cap(l.slots) { // all have gone
			l.slots <- struct{}{}
		}
		if got := time.Since(start).Round(10 * time.Millisecond); got != 10*time.Second {
			t.Errorf("ten requests at one a second took %v", got)
		}
	})
}

func TestLimiterGivesUp(t *testing.T) {
	t.Parallel()
	l := NewLimiter(1)
	l.Observe(429, headers("Retry-After", "7200"))
	_, err := l.Acquire(t.Context(), 1)
	if got, ok := errors.AsType[*job.Error](err); !ok || got.Class != job.AIRateLimit || got.RetryAfter < time.Hour {
		t.Errorf("a wait of two hours: %v", err)
	}
	if len(l.slots) != 0 {
		t.Error("a slot is still taken")
	}
}

func TestLimiterStopsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		l := NewLimiter(1)
		release, err := l.Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, hold := range []func(){func() {}, func() { release(); l.Observe(429, headers("Retry-After", "30")) }} {
			hold()
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error)
			go func() {
				_, err := l.Acquire(ctx, 1)
				failed <- err
			}()
			synctest.Wait()
			cancel(stop)
			if err := <-failed; !errors.Is(err, stop) {
				t.Errorf("got %v", err)
			}
		}
		if len(l.slots) != 0 {
			t.Error("a slot is still taken")
		}
	})
}
