package openai

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Answers arrive out of order and don't count requests in flight. The budget is never overestimated.
func TestBudgetOfParallelRequests(t *testing.T) {
	t.Parallel()
	remaining := func(n string) http.Header {
		return headers("x-ratelimit-limit-requests", "100", "x-ratelimit-remaining-requests", n,
			"x-ratelimit-reset-requests", "600s")
	}
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(10)
		var permits []*Permit
		for range 4 {
			p, err := l.Acquire(t.Context(), Bulk, "m", 1)
			if err != nil {
				t.Fatal(err)
			}
			permits = append(permits, p)
		}
		level := func() int { return int(math.Round(l.common.requests.level)) }
		for _, step := range []struct {
			of   int
			says string
			want int
		}{{3, "96", 93}, {0, "99", 93}, {1, "98", 93}, {2, "97", 93}} { // the 96 may not count the three in flight
			permits[step.of].Observe(200, remaining(step.says))
			if got := level(); got != step.want {
				t.Errorf("after the answer to request %d: %d, want %d", step.of, got, step.want)
			}
		}
		answered(t, l, 200, remaining("95")) // the latest, with none in flight: exact
		if got := level(); got != 95 {
			t.Errorf("%d, want 95", got)
		}
	})
}

// The period of a limit follows from what was used and when it is back. Periods above a minute don't space requests.
func TestPace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit  float64
		h      []string
		period time.Duration
	}{
		"a minute":           {500, []string{"499", "120ms"}, time.Minute},
		"a minute, rounded":  {3500, []string{"3499", "17ms"}, time.Minute},
		"a second":           {50, []string{"40", "200ms"}, time.Second},
		"a day":              {10_000, []string{"9999", "8.64s"}, time.Minute},
		"a fixed minute":     {60, []string{"59", "60s"}, time.Minute},
		"nothing gone":       {60, []string{"60", "0s"}, time.Minute},
		"no reset":           {60, []string{"59", ""}, time.Minute},
		"five seconds":       {60, []string{"30", "2.5s"}, 5 * time.Second},
		"the longest counts": {60, []string{"30", "2.5s", "59", "10ms"}, 5 * time.Second},
	} {
		var p spacing
		for i := 0; i < len(tt.h); i += 2 {
			p.learn(tt.limit, headers("x-ratelimit-remaining-requests", tt.h[i], "x-ratelimit-reset-requests",
				tt.h[i+1]))
		}
		if p.period != tt.period {
			t.Errorf("%s: %v, want %v", name, p.period, tt.period)
		}
	}
}
