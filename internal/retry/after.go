package retry

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxAfter is the longest wait that After returns. Whoever waits has a smaller bound of its own.
const MaxAfter = 24 * time.Hour

// After is how long an answer asks its client to wait; zero: it does not ask. It reads Retry-After in seconds or as a
// date (RFC 9110, section 10.2.3), also with a fraction or in Go's notation ("1.5", "120ms"), as some services send it,
// and before that the milliseconds of OpenAI (Retry-After-Ms) and of Azure (X-Ms-Retry-After-Ms).
func After(h http.Header, now time.Time) time.Duration {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if ms, ok := number(h.Get(name)); ok {
			return bounded(ms, time.Millisecond)
		}
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := number(value); ok {
		return bounded(seconds, time.Second)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return min(max(d, 0), MaxAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), MaxAfter)
	}
	return 0
}

// number reads a finite number that is not negative.
func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}

func bounded(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(MaxAfter)))
}
