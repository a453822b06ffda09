package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// answered sends a request and observes its answer at once.
func answered(t *testing.T, l *Limiter, status int, header http.Header) {
	t.Helper()
	p, err := l.Acquire(t.Context(), Bulk, "m", 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Observe(status, header)
	p.Release()
}

// inFlight returns how many requests hold a permit.
func inFlight(l *Limiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flying[Prompt] + l.flying[Bulk]
}

// The limiter delays a request of 100 tokens after an answer with these headers.
func TestLimiterHoldsBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header http.Header
		want   time.Duration
	}{
		"no headers": {200, nil, 0},
		"budget there": {200, headers("x-ratelimit-remaining-requests", "5",
			"x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "100", "x-ratelimit-reset-tokens",
			"6m0s"), 0},
		"no requests left, limit unknown": {200, headers("x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "12s"), 12 * time.Second},
		"no requests left, one in 20 ms": {200, headers("x-ratelimit-limit-requests", "3000",
			"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m0s"), 20 * time.Millisecond},
		"tokens come back evenly": {200, headers("x-ratelimit-limit-tokens", "1000",
			"x-ratelimit-remaining-tokens", "50", "x-ratelimit-reset-tokens", "19s"), time.Second},
		"dearer than the bucket": {200, headers("x-ratelimit-limit-tokens", "80", "x-ratelimit-remaining-tokens",
			"0", "x-ratelimit-reset-tokens", "8s"), 8 * time.Second},
		"seconds without a unit": {200, headers("x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "3"), 3 * time.Second},
		"a Unix time": {200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "1764437000"), 0},
		"Retry-After": {429, headers("Retry-After", "7"), 7 * time.Second},
		"retry-after-ms wins": {
			429, headers("Retry-After", "7", "retry-after-ms", "1500"),
			1500 * time.Millisecond,
		},
		"Retry-After as a date": {429, headers("Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"), 9 * time.Second},
		// that request alone may make the service fail
		"Retry-After of one request":   {503, headers("Retry-After", "7"), 0},
		"Retry-After of a good answer": {200, headers("Retry-After", "7"), 0},
		"nonsense": {429, headers("Retry-After", "-3", "x-ratelimit-remaining-tokens", "NaN",
			"x-ratelimit-reset-tokens", "soon"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // virtual time starts at 2000-01-01
				l := NewLimiter(1)
				answered(t, l, test.status, test.header)
				start := time.Now()
				p, err := l.Acquire(t.Context(), Bulk, "m", 100)
				if err != nil {
					t.Fatal(err)
				}
				p.Release()
				if got := time.Since(start).Round(time.Microsecond); got != test.want {
					t.Errorf("delayed by %v, want %v", got, test.want)
				}
			})
		})
	}
}

// Waiters for the same budget each take their share: they don't all leave when it has refilled.
func TestLimiterSharesTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(16)
		answered(t, l, 200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0",
			"x-ratelimit-reset-requests", "1m0s"))
		start := time.Now()
		var gone atomic.Int32
		for range 10 {
			go func() {
				p, err := l.Acquire(t.Context(), Bulk, "m", 1)
				if err != nil {
					t.Error(err)
					return
				}
				gone.Add(1)
				p.Release()
			}()
		}
		for range 10 {
			time.Sleep(time.Second + time.Millisecond) // virtual time
			synctest.Wait()
			if got, want := int(gone.Load()), int(time.Since(start)/time.Second); got != want {
				t.Fatalf("after %v %d were sent, want %d", time.Since(start), got, want)
			}
		}
	})
}

func TestLimiterGivesUp(t *testing.T) {
	t.Parallel()
	l := NewLimiter(1)
	answered(t, l, 429, headers("Retry-After", "7200"))
	_, err := l.Acquire(t.Context(), Prompt, "m", 1)
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.AIRateLimit ||
		got.RetryAfter < 9*time.Minute {
		t.Errorf("a wait of two hours: %v", err)
	}
	if inFlight(l) != 0 || len(l.waiting[Prompt]) != 0 {
		t.Error("a place is still taken")
	}
}

// However long an answer asks to wait, a task that is tried again is sent: it learns whether the service still refuses.
func TestLimiterAsksAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, answer := range []struct {
			before int // requests in the same minute
			status int
			header http.Header
		}{
			{0, 429, headers("Retry-After", "86400")},
			{0, 429, headers("Retry-After", "Fri, 31 Dec 2100 00:00:00 GMT")},
			{0, 200, headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "60000")}, // milliseconds?
			{0, 200, headers("x-ratelimit-limit-requests", "2", "x-ratelimit-remaining-requests", "0",
				"x-ratelimit-reset-requests", "24h")},
			{0, 429, headers("x-ratelimit-limit-tokens", "100", "x-ratelimit-remaining-tokens", "0",
				"x-ratelimit-reset-tokens", "172800")},
			{paceRecent, 200, headers("x-ratelimit-limit-requests", "1")}, // a number of requests at a time?
		} {
			l := NewLimiter(1)
			for range answer.before {
				answered(t, l, 200, nil)
			}
			answered(t, l, answer.status, answer.header)
			_, err := l.Acquire(t.Context(), Prompt, "m", 1)
			failed, ok := errors.AsType[*taskerr.Error](err)
			if !ok {
				t.Fatalf("at once: %v", err)
			}
			time.Sleep(job.Policies[task.Agent].Wait(1, 0, failed.RetryAfter, rand.New(rand.NewPCG(1, 2)))) // virtual time
			p, err := l.Acquire(t.Context(), Prompt, "m", 1)
			if err != nil {
				t.Fatalf("the next attempt after %v: %v", answer.header, err)
			}
			p.Release()
			if _, err := l.Acquire(t.Context(), Prompt, "m", 1); (err == nil) != (answer.header.Get("Retry-After") != "") {
				t.Errorf("another one, after %v: %v", answer.header, err)
			}
		}
	})
}

func TestLimiterStopsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		l := NewLimiter(1)
		p, err := l.Acquire(t.Context(), Bulk, "m", 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, hold := range []func(){func() {}, func() { p.Observe(429, headers("Retry-After", "30")); p.Release() }} {
			hold()
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error)
			go func() {
				_, err := l.Acquire(ctx, Bulk, "m", 1)
				failed <- err
			}()
			synctest.Wait()
			cancel(stop)
			if err := <-failed; !errors.Is(err, stop) {
				t.Errorf("got %v", err)
			}
		}
		if inFlight(l) != 0 || len(l.waiting[Bulk]) != 0 {
			t.Error("a place is still taken")
		}
	})
}

// flood keeps requests of an urgency waiting, each of which takes a while.
func flood(ctx context.Context, l *Limiter, u Urgency, model string, workers int, went func()) *sync.WaitGroup {
	wg := new(sync.WaitGroup)
	for range workers {
		wg.Go(func() {
			for {
				p, err := l.Acquire(ctx, u, model, 100)
				if err != nil {
					return
				}
				went()
				time.Sleep(100 * time.Millisecond)
				p.Release()
			}
		})
	}
	return wg
}

// A request passes a never-ending stream of the other urgency: at most one bulk request precedes a prompt one, at
// most three prompt ones precede a bulk one. That holds whether permits or the service's budget are scarce.
func TestLimiterStarvesNoRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flood, one Urgency
		limited    bool
		before     int // sent at most while the one waits
	}{
		"chat among embeddings":                   {Bulk, Prompt, false, 0},
		"embeddings among chat":                   {Prompt, Bulk, false, 0},
		"chat among embeddings, within a limit":   {Bulk, Prompt, true, 1},
		"embeddings among chat, within a limit":   {Prompt, Bulk, true, promptsInARow},
		"a question among chat":                   {Prompt, Question, false, 0},
		"a question among chat, within a limit":   {Prompt, Question, true, 1},
		"chat among questions, within a limit":    {Question, Prompt, true, questionsInARow},
		"pages among questions, within a limit":   {Question, Bulk, true, promptsInARow},
		"pages among other pages, within a limit": {Bulk, Bulk, true, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := NewLimiter(8)
				if tt.limited { // one per second
					answered(t, l, 200, headers("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests",
						"0", "x-ratelimit-reset-requests", "1m0s"))
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var went atomic.Int32
				others := flood(ctx, l, tt.flood, "m", 20, func() { went.Add(1) })
				for range 20 {
					time.Sleep(777 * time.Millisecond)
					synctest.Wait()
					before := went.Load()
					p, err := l.Acquire(t.Context(), tt.one, "m", 100)
					if err != nil {
						t.Fatal(err)
					}
					if n := int(went.Load() - before); n > tt.before {
						t.Fatalf("%d requests went before it, want at most %d", n, tt.before)
					}
					time.Sleep(100 * time.Millisecond)
					p.Release()
				}
				stop()
				others.Wait()
			})
		})
	}
}

// Small requests don't overtake one that needs many tokens forever.
func TestLimiterLetsLargeRequestsThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(8)
		answered(t, l, 200, headers("x-ratelimit-limit-tokens", "6000", "x-ratelimit-remaining-tokens", "0",
			"x-ratelimit-reset-tokens", "1m0s"))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		others := flood(ctx, l, Bulk, "m", 20, func() {})
		time.Sleep(5 * time.Second)
		start := time.Now()
		p, err := l.Acquire(t.Context(), Prompt, "m", 4000)
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 45*time.Second {
			t.Errorf("it waited for %v; its tokens refill in 40 seconds", waited)
		}
		p.Release()
		stop()
		others.Wait()
	})
}

// Models with different limits don't wait for each other. Models with equal limits do, and so does an unknown model.
func TestLimiterSeparatesModels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // windows of 50 ms must not pass meanwhile
		spent := func(limit string) http.Header {
			return headers("x-ratelimit-limit-requests", limit, "x-ratelimit-remaining-requests", "0",
				"x-ratelimit-reset-requests", "30s")
		}
		l := NewLimiter(8)
		hear := func(model string, h http.Header) {
			a := l.of(model)
			a.take(time.Now(), 0)
			(&Permit{limiter: l, model: model, allowance: a}).Observe(http.StatusOK, h)
		}
		wait := func(model string) bool { return l.of(model).wait(time.Now(), 1) > 0 }
		hear("a", spent("600"))
		if !wait("a") || !wait("b") {
			t.Error("requests to an unknown model don't count for the known one")
		}
		hear("b", headers("x-ratelimit-limit-requests", "900", "x-ratelimit-remaining-requests", "899",
			"x-ratelimit-reset-requests", "67ms"))
		if !wait("a") || wait("b") {
			t.Error("a model with other limits has to wait")
		}
		hear("c", spent("900"))
		if !wait("b") || l.of("b") != l.of("c") {
			t.Error("models with the same limits don't share them")
		}
		hear("b", headers("x-ratelimit-limit-requests", "1200", "x-ratelimit-remaining-requests", "1199",
			"x-ratelimit-reset-requests", "50ms"))
		if wait("b") || !wait("c") {
			t.Error("a model whose limits were raised has to wait")
		}
		hear("d", headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "5s"))
		if !wait("d") || wait("b") {
			t.Error("a model that doesn't announce its limits shares those of others")
		}
	})
}
