package openai

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestReset bounds the times in headers: the longest budgets are those of a day. A plain number beyond it is not one of
// seconds, but a Unix time, say.
const longestReset = 48 * time.Hour

// budget is a token bucket at the service, as last reported. Its zero value limits nothing.
type budget struct {
	known bool
	level float64   // at the moment at
	limit float64   // zero: unknown
	rate  float64   // refilled per second; zero: unknown, all of it at reset
	at    time.Time // of level
	reset time.Time // full again
}

// observe updates the budget from a response. "reset" is the time until the bucket is full again. Requests in flight
// may or may not have been counted by the service: they are counted here. A response that isn't the latest can only
// lower the level.
func (b *budget) observe(now time.Time, h http.Header, kind string, flying float64, latest bool) {
	remaining, ok := number(h.Get("X-Ratelimit-Remaining-" + kind))
	if !ok {
		return
	}
	reset, ok := duration(h.Get("X-Ratelimit-Reset-" + kind))
	if !ok {
		return
	}
	level := remaining - flying
	if !latest && b.known {
		b.refill(now)
		level = min(level, b.level)
	}
	*b = budget{known: true, level: level, at: now, reset: now.Add(reset)}
	if limit, ok := number(h.Get("X-Ratelimit-Limit-" + kind)); ok && limit > remaining && reset > 0 {
		b.limit, b.rate = limit, (limit-remaining)/reset.Seconds()
	}
}

// refill moves the budget forward to now.
func (b *budget) refill(now time.Time) {
	if !b.known {
		return
	}
	if b.rate > 0 {
		b.level = min(b.limit, b.level+b.rate*now.Sub(b.at).Seconds())
	} else if !now.Before(b.reset) {
		*b = budget{}
	}
	b.at = now
}

// wait returns how long until cost is available. A cost above the whole bucket waits for a full one.
func (b *budget) wait(now time.Time, cost float64) time.Duration {
	if !b.known {
		return 0
	}
	if b.rate > 0 {
		missing := min(cost, b.limit) - b.level
		// Rounded up: a wait that ends slightly too early would be followed by one of zero.
		return time.Duration(math.Ceil(missing / b.rate * float64(time.Second)))
	}
	if b.level >= cost {
		return 0
	}
	return b.reset.Sub(now)
}

// number reads a finite number that is not negative.
func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return n, err == nil && n >= 0 && n < math.MaxInt32
}

// duration reads Go's notation, which is OpenAI's ("6m0s", "120ms"), or seconds.
func duration(s string) (time.Duration, bool) {
	if seconds, ok := number(s); ok {
		return time.Duration(seconds * float64(time.Second)), seconds <= longestReset.Seconds()
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	return min(d, longestReset), err == nil && d >= 0
}
