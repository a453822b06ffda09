package llmtest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limits are the service's rate limits, over all models. Like OpenAI's they are buckets that start full and refill
// evenly. The headers of every answer report them.
type Limits struct {
	Requests int           // in Period; zero: no limit
	Tokens   int           // in Period; zero: no limit
	Period   time.Duration // zero: a minute
	Every    int           // every n-th request gets a 429, even if the buckets have room; zero: none
	Pause    string        // Retry-After of a 429; empty: none is sent
	Silent   bool          // answers have no headers about the limits
}

// limiter is the buckets. It is guarded by the server's lock.
type limiter struct {
	Limits
	requests, tokens bucket
	refused          int // because of an empty bucket
}

type bucket struct {
	used float64 // of its limit, at the moment at
	at   time.Time
}

func (b *bucket) drain(now time.Time, perSecond float64) {
	b.used = max(0, b.used-perSecond*now.Sub(b.at).Seconds())
	b.at = now
}

// take returns the fault of the n-th request, if it exceeds a limit.
func (l *limiter) take(now time.Time, n, tokens int) (*Fault, http.Header) {
	period := l.Period
	if period == 0 {
		period = time.Minute
	}
	header, refuse := http.Header{}, l.Every > 0 && n%l.Every == 0
	for _, kind := range []struct {
		name  string
		b     *bucket
		limit int
		cost  int
	}{{"Requests", &l.requests, l.Requests, 1}, {"Tokens", &l.tokens, l.Tokens, tokens}} {
		if kind.limit == 0 {
			continue
		}
		rate := float64(kind.limit) / period.Seconds()
		kind.b.drain(now, rate)
		if kind.b.used+float64(kind.cost) > float64(kind.limit)+1e-6 {
			refuse = true
			l.refused++
		} else {
			kind.b.used += float64(kind.cost)
		}
		if !l.Silent {
			header.Set("X-Ratelimit-Limit-"+kind.name, strconv.Itoa(kind.limit))
			header.Set("X-Ratelimit-Remaining-"+kind.name,
				fmt.Sprint(int(math.Floor(float64(kind.limit)-kind.b.used+1e-6))))
			header.Set("X-Ratelimit-Reset-"+kind.name, time.Duration(kind.b.used/rate*float64(time.Second)).
				Round(time.Millisecond).String())
		}
	}
	if !refuse {
		return nil, header
	}
	fault := RateLimited
	if l.Pause != "" {
		fault = fault.After(l.Pause)
	}
	return &fault, header
}

// Refused returns how many requests met an empty bucket. A client that respects the limits sends none of them.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limiter.refused
}

// Most returns the largest number of requests within any span of that length.
func (s *Server) Most(span time.Duration) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most, first := 0, 0
	for i, r := range s.requests {
		for !s.requests[first].At.After(r.At.Add(-span)) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
