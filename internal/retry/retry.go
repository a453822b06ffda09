// Package retry sleeps and tries again: a sleep that ends with its context, exponential backoff with
// jitter (by cenkalti/backoff), and the one reader of Retry-After.
package retry

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Sleep waits for d. It returns the cause of ctx's end if that comes first, also when d is not positive.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Jitter varies d at random by up to a fraction of it in either direction, so that what failed together does not come
// back together.
func Jitter(d time.Duration, fraction float64) time.Duration {
	return d + time.Duration((2*rand.Float64()-1)*fraction*float64(d))
}

// Backoff is a series of waits, each longer than the one before by a factor.
type Backoff struct {
	First  time.Duration // the first wait
	Max    time.Duration // the longest wait, jitter apart
	Factor float64       // zero: 2
	Jitter float64       // a fraction in [0,1] by which each wait varies in either direction
}

func (b Backoff) exponential() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: b.First, MaxInterval: max(b.Max, b.First), Multiplier: cmp.Or(b.Factor, 2),
		RandomizationFactor: b.Jitter,
	}
}

// Waits is a series of waits that has begun. It is not safe for concurrent use.
type Waits struct{ series *backoff.ExponentialBackOff }

// Waits starts the series.
func (b Backoff) Waits() *Waits { return &Waits{b.exponential()} }

// Next returns the next wait.
func (w *Waits) Next() time.Duration { return w.series.NextBackOff() }

// Reset starts the series again: the next wait is the first.
func (w *Waits) Reset() { w.series.Reset() }

// Policy says how often a function is called again, and when.
type Policy struct {
	Backoff
	Tries int           // at most, the first included; zero: no limit
	Time  time.Duration // for all tries and waits; a wait that would exceed it ends the series; zero: no limit
	// Retryable reports whether an error may be gone the next time; nil: any may.
	Retryable func(error) bool
	// After is the least wait that an error asks for; nil: none does.
	After func(error) time.Duration
	// Notify is called before each wait; nil: nobody is.
	Notify func(err error, wait time.Duration)
}

// Do calls f until it succeeds, its error is not retryable, the policy's limits are reached, or ctx ends. It returns
// what f returned last.
func Do[T any](ctx context.Context, p Policy, f func() (T, error)) (T, error) {
	waits := &atLeast{ExponentialBackOff: p.exponential()}
	options := []backoff.RetryOption{
		backoff.WithBackOff(waits), backoff.WithMaxTries(uint(max(p.Tries, 0))), backoff.WithMaxElapsedTime(p.Time),
	}
	if p.Notify != nil {
		options = append(options, backoff.WithNotify(p.Notify))
	}
	var result T
	var err error
	_, _ = backoff.Retry(ctx, func() (T, error) {
		result, err = f()
		switch {
		case err == nil:
			return result, nil
		case p.Retryable != nil && !p.Retryable(err):
			return result, backoff.Permanent(err)
		case p.After != nil:
			waits.least = p.After(err)
		}
		return result, err
	}, options...)
	return result, err
}

// atLeast is an exponential backoff whose next wait has a lower bound.
type atLeast struct {
	*backoff.ExponentialBackOff
	least time.Duration
}

// NextBackOff implements backoff.BackOff.
func (a *atLeast) NextBackOff() time.Duration {
	return max(a.ExponentialBackOff.NextBackOff(), a.least)
}
