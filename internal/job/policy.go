package job

import (
	"math/rand/v2"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Jitter is how a backoff is spread. Source of both: Marc Brooker, "Exponential Backoff And Jitter",
// AWS Architecture Blog, 2015.
type Jitter string

// The kinds of jitter.
const (
	FullJitter         Jitter = "full"         // uniform in [0, backoff]
	DecorrelatedJitter Jitter = "decorrelated" // min(cap, uniform in [base, 3 × the wait before])
)

// MaxRetryAfter bounds a server's Retry-After.
const MaxRetryAfter = 10 * time.Minute

// Policy says how often and when a task is tried again.
type Policy struct {
	MaxAttempts int           // ≥ 1, the first try included
	Base        time.Duration // the first wait
	Cap         time.Duration // no computed wait is longer
	Jitter      Jitter
}

// Policies maps the task types of the contract to their policy.
var Policies = map[task.Type]Policy{
	task.Ingest:    {3, 2 * time.Second, 30 * time.Second, FullJitter},
	task.Summarize: {3, 2 * time.Second, 30 * time.Second, FullJitter},
	task.Convert:   {3, 2 * time.Second, 30 * time.Second, FullJitter},
	task.Export:    {3, 2 * time.Second, 30 * time.Second, FullJitter},
	task.OCR:       {4, 1 * time.Second, 8 * time.Second, FullJitter},
	task.Agent:     {2, 1 * time.Second, 10 * time.Second, DecorrelatedJitter},
	task.AI:        {2, 1 * time.Second, 10 * time.Second, DecorrelatedJitter},
	task.XML:       {3, 5 * time.Second, 20 * time.Second, DecorrelatedJitter}, // 5 to 20 s
}

// DefaultPolicy is for a task type that brings none of its own.
var DefaultPolicy = Policy{3, 2 * time.Second, 30 * time.Second, FullJitter}

// Wait returns how long to wait after the given failed attempt (1 is the first). previous is the
// wait before this one (decorrelated jitter grows from it; zero at first). A retryAfter that is
// longer wins, up to MaxRetryAfter.
func (p Policy) Wait(attempt int, previous, retryAfter time.Duration, rnd *rand.Rand) time.Duration {
	var wait time.Duration
	switch p.Jitter {
	case DecorrelatedJitter:
		wait = min(p.Cap, p.Base+between(rnd, 3*min(max(previous, p.Base), p.Cap)-p.Base))
	default:
		backoff := p.Cap
		if shift := attempt - 1; shift < 20 && p.Base<<shift < p.Cap {
			backoff = p.Base << max(shift, 0)
		}
		wait = between(rnd, backoff)
	}
	return max(wait, min(retryAfter, MaxRetryAfter))
}

func between(rnd *rand.Rand, upper time.Duration) time.Duration {
	if upper <= 0 {
		return 0
	}
	return time.Duration(rnd.Int64N(int64(upper) + 1))
}
