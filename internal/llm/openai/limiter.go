package openai

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

// longestHold is how long a request may be held back before it is given up with ai_rate_limit: the
// budgets of minutes come back within it, those of a day don't.
const longestHold = time.Minute

// Limiter keeps a process within the rate limits of one account: so many requests in flight, and
// none sent while the service says that its budget of requests or tokens is spent or asks for a
// pause. It is safe for concurrent use.
type Limiter struct {
	slots chan struct{}
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu       sync.Mutex
	requests budget
	tokens   budget
	paused   time.Time // nothing is sent before it
}

// NewLimiter allows so many requests in flight, at least 1.
func NewLimiter(inFlight int) *Limiter {
	return &Limiter{slots: make(chan struct{}, max(1, inFlight)), now: time.Now, sleep: sleep}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Acquire waits until a request of so many tokens may be sent; release must be called when it is
// over. The error is the cause of ctx's end, or an ai_rate_limit when the wait would be longer than a
// minute.
func (l *Limiter) Acquire(ctx context.Context, tokens int) (release func(), err error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	release = func() { <-l.slots }
	for {
		wait := l.reserve(float64(tokens))
		if wait <= 0 {
			return release, nil
		}
		if wait > longestHold {
			release()
			return nil, &job.Error{
				Class:      job.AIRateLimit,
				Message:    fmt.Sprintf("the model service's rate limit is spent for the next %v", wait.Round(time.Second)),
				RetryAfter: wait,
			}
		}
		if err := l.sleep(ctx, wait); err != nil {
			release()
			return nil, err
		}
	}
}

// reserve takes a request out of the budgets, or returns how long to wait before that may work.
func (l *Limiter) reserve(tokens float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.requests.refill(now)
	l.tokens.refill(now)
	wait := max(l.paused.Sub(now), l.requests.wait(now, 1), l.tokens.wait(now, tokens))
	if wait <= 0 {
		l.requests.level--
		l.tokens.level -= tokens
	}
	return wait
}

// Observe learns from the headers of an answer: x-ratelimit-{limit,remaining,reset}-{requests,tokens},
// and, of a 429 or 503, Retry-After and retry-after-ms.
func (l *Limiter) Observe(status int, header http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.requests.observe(now, header, "requests")
	l.tokens.observe(now, header, "tokens")
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		if until := now.Add(retryAfter(header, now)); until.After(l.paused) {
			l.paused = until
		}
	}
}
