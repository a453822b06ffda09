package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

const (
	// slowBegin and quickBegin are the moving averages of begin's time above which the store counts as slow,
	// and below which it counts as quick again.
	slowBegin  = 500 * time.Millisecond
	quickBegin = 250 * time.Millisecond
	// slowFactor times what the average is above quickBegin is waited between polls while the store is slow.
	slowFactor = 4
	// longestBegin is what a longer answer counts as: one alone is soon forgotten.
	longestBegin = 4 * time.Second
	// beginWeight is the share of the newest answer in the moving average, as a divisor.
	beginWeight = 4
)

// pressure slows the engine down while the store (or what a message needs before it can be begun)
// is out of order or slow. Each failure after a wait doubles it, one success ends it; slow answers
// lengthen it in proportion. The wait is most at the longest, so that an end of the trouble is seen.
type pressure struct {
	most time.Duration
	log  *slog.Logger

	mu      sync.Mutex
	wait    time.Duration
	until   time.Time     // the end of it: what fails before came with what failed at its beginning
	trouble *Trouble      // nil: there is none
	average time.Duration // exponential moving average of begin's time; zero: there was none
	slow    bool
}

// stumbled notes a failure and returns how long its message should wait.
func (p *pressure) stumbled(class job.Class, hint string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.trouble = p.trouble.again(now, class, hint)
	if !now.Before(p.until) {
		p.wait = min(max(2*p.wait, time.Second), max(p.most, time.Second))
		p.until = now.Add(p.wait)
	}
	return p.wait
}

// recovered notes a success.
func (p *pressure) recovered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// end ends the wait, and logs the end of what was logged for each message before; mu is held.
func (p *pressure) end() {
	if p.trouble != nil {
		p.log.Info("the store answers again", "after", time.Since(p.trouble.Since).Round(time.Second))
	}
	p.trouble, p.wait, p.until = nil, 0, time.Time{}
}

// answered notes a success of begin, and how long it took.
func (p *pressure) answered(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.average += (min(took, longestBegin) - p.average) / beginWeight
	switch {
	case !p.slow && p.average > slowBegin:
		p.slow = true
		p.log.Warn("the database answers slowly: new tasks are taken less often until it is quick again; look at its load, "+
			"at locks (pg_stat_activity) and at the network to it", "average_ms", p.average.Milliseconds(), "slow_above_ms", slowBegin.Milliseconds())
	case p.slow && p.average < quickBegin:
		p.slow = false
		p.log.Info("the database is quick again", "average_ms", p.average.Milliseconds())
	}
}

// bound changes the longest wait.
func (p *pressure) bound(most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = most
}

// now is how long polling should wait at least.
func (p *pressure) now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.slow {
		return p.wait
	}
	return max(p.wait, min(slowFactor*(p.average-quickBegin), p.most))
}

const (
	// manyWebhooks and fewWebhooks are how many due webhooks slow the worker down, and how few let it go on.
	manyWebhooks = 1000
	fewWebhooks  = 500
)

// webhooks slows the engine down while the outbox holds more due webhooks than are delivered: each task
// adds one. Only the poller uses it.
type webhooks struct {
	due    func() int // nil: nobody knows
	pause  time.Duration
	log    *slog.Logger
	behind bool
}

// allow is how many messages may be received at a time, of usually so many, and how long polling should
// wait at least. Something is always allowed: were the count wrong, tasks would go on.
func (w *webhooks) allow(usually int) (most int, pause time.Duration) {
	if w.due == nil {
		return usually, 0
	}
	due := w.due()
	switch {
	case !w.behind && due > manyWebhooks:
		w.behind = true
		w.log.Warn("webhooks are not delivered as fast as tasks end: new tasks are taken one by one until they are; look at "+
			"what their receivers answer and how fast (webhook_deliveries: url, response_status, latency_ms)",
			"due_at_least", due, "goes_on_below", fewWebhooks, "pause", w.pause)
	case w.behind && due < fewWebhooks:
		w.behind = false
		w.log.Info("webhooks are delivered in time again", "due", due)
	}
	if w.behind {
		return 1, w.pause
	}
	return usually, 0
}

// health says since when the store has been failing; nil: it has not.
func (p *pressure) health() *StoreHealth {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble == nil {
		return nil
	}
	return &StoreHealth{Trouble: *p.trouble, Wait: p.wait}
}
