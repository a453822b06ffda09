package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Requests of one caller. A search costs calls of a model, and of a re-ranker.
const (
	requestsPerSecond = 100
	requestBurst      = 1000
	searchesPerSecond = 10
	searchBurst       = 50
	maxCallers        = 10_000 // whose requests are counted; with more, the idle ones are forgotten
)

// limits bound what one caller, and all together, can ask for.
type limits struct {
	requests, searches rates

	mu        sync.Mutex
	streams   int
	streamsOf map[string]int // by caller
	puts      int            // blobs that are being written
	putsOf    map[string]int // by caller
}

func newLimits() *limits {
	return &limits{
		requests:  rates{perSecond: requestsPerSecond, burst: requestBurst, callers: map[string]*rate.Limiter{}},
		searches:  rates{perSecond: searchesPerSecond, burst: searchBurst, callers: map[string]*rate.Limiter{}},
		streamsOf: map[string]int{}, putsOf: map[string]int{},
	}
}

// rates bound how often each caller asks for something.
type rates struct {
	perSecond rate.Limit
	burst     int

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

// take counts a request; positive: how long the caller has to wait.
func (l *rates) take(caller string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.callers[caller]
	if c == nil {
		if len(l.callers) >= maxCallers {
			l.forget()
		}
		c = rate.NewLimiter(l.perSecond, l.burst)
		l.callers[caller] = c
	}
	if r := c.Reserve(); r.Delay() > 0 {
		wait := r.Delay()
		r.Cancel()
		return wait
	}
	return 0
}

// forget removes callers that have made no request lately, or all if there are none of these.
func (l *rates) forget() {
	for caller, c := range l.callers {
		if c.Tokens() >= float64(l.burst) {
			delete(l.callers, caller)
		}
	}
	if len(l.callers) >= maxCallers {
		clear(l.callers)
	}
}

// beginStream makes room for a caller's stream, if there is any. The last lastStreams are for callers with fewer than
// fewStreams, so that one can't keep the others out.
func (l *limits) beginStream(caller string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free, own := maxStreams-l.streams, l.streamsOf[caller]
	if free <= 0 || free <= lastStreams && own >= fewStreams {
		return false
	}
	l.streams++
	l.streamsOf[caller]++
	return true
}

func (l *limits) endStream(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams--
	if l.streamsOf[caller]--; l.streamsOf[caller] == 0 {
		delete(l.streamsOf, caller)
	}
}

// beginPut makes room for a blob of a caller, if there is any. It has its place before its first byte comes, so one
// caller gets half of the places alone: uploads that stall don't keep the others out.
func (l *limits) beginPut(caller string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.puts >= maxPuts || l.putsOf[caller] >= maxPutsOfOne {
		return false
	}
	l.puts++
	l.putsOf[caller]++
	return true
}

func (l *limits) endPut(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.puts--
	if l.putsOf[caller]--; l.putsOf[caller] == 0 {
		delete(l.putsOf, caller)
	}
}
