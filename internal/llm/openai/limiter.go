package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// longestHold is how long a request may be held back before it is given up with ai_rate_limit: the
// budgets of minutes come back within it, those of a day don't.
const longestHold = time.Minute

// Urgency says who waits for a request.
type Urgency int

// The urgencies.
const (
	Prompt Urgency = iota // one request, or a few, that a task can't go on without: chat
	Bulk                  // one of many: embeddings, pages
	urgencies
)

// promptsInARow is how many prompt requests are sent while a bulk one waits.
const promptsInARow = 3

// Limiter keeps a process within the rate limits of one account: so many requests in flight, none sent while the
// service says that its budget of requests or tokens is spent or asks for a pause, and these not faster than the
// announced limit. It is safe for concurrent use.
//
// Prompt requests go before bulk ones, of which every fourth goes all the same; a quarter of those in flight is
// kept for either. The first in that order waits for the budget it needs, and none that needs the same
// budget overtakes it.
//
// Services limit each model by itself, or some models together. Models that announce the same limits are taken to
// share them; of one that has announced none yet, it is taken that it shares those of the model first heard of.
type Limiter struct {
	slots int
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	after func(time.Duration, func())

	mu      sync.Mutex
	waiting [urgencies][]*waiter
	flying  [urgencies]int
	prompts int       // that went in a row while a bulk one waited
	sent    uint64    // numbers requests in the order in which they went
	alarm   time.Time // of the next look at who waits; zero: none is set
	common  *allowance
	models  map[string]*allowance // of those that have announced their limits
}

// waiter is a request that wants to go.
type waiter struct {
	model  string
	tokens float64
	ready  chan struct{} // closed when it may go, or must not
	permit *Permit       // when it may
	err    error         // when it must not
}

// NewLimiter allows so many requests in flight, at least 2 where both urgencies are used.
func NewLimiter(inFlight int) *Limiter {
	return &Limiter{
		slots: max(1, inFlight), now: time.Now, sleep: retry.Sleep,
		after:  func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		common: new(allowance), models: make(map[string]*allowance),
	}
}

// Resize changes how many requests may be in flight. Those that are go on.
func (l *Limiter) Resize(inFlight int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slots = max(1, inFlight)
	l.dispatch()
}

// Acquire waits until a request of about so many tokens may be sent to a model. The error is the cause of ctx's
// end, or an ai_rate_limit when the wait would be longer than a minute.
func (l *Limiter) Acquire(ctx context.Context, u Urgency, model string, tokens int) (*Permit, error) {
	w := &waiter{model: model, tokens: float64(tokens), ready: make(chan struct{})}
	l.mu.Lock()
	l.waiting[u] = append(l.waiting[u], w)
	l.dispatch()
	l.mu.Unlock()
	select {
	case <-w.ready:
		return w.permit, w.err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting[u], w); i >= 0 {
		l.waiting[u] = slices.Delete(l.waiting[u], i, i+1)
	} else if w.permit != nil { // it came with the end
		w.permit.release()
	}
	l.dispatch()
	return nil, context.Cause(ctx)
}

// dispatch sends all that may be sent now, and sets an alarm for the next one. It is called with the lock, whenever
// something has changed.
func (l *Limiter) dispatch() {
	now := l.now()
	for {
		next, more := l.dispatchOne(now)
		if more {
			continue
		}
		if next > 0 && (l.alarm.IsZero() || now.Add(next).Before(l.alarm)) {
			at := now.Add(next)
			l.alarm = at
			l.after(next, func() { l.ring(at) })
		}
		return
	}
}

// ring looks again at who waits.
func (l *Limiter) ring(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alarm.Equal(at) {
		l.alarm = time.Time{}
	}
	l.dispatch()
}

// dispatchOne decides about one waiter. more: it did. Otherwise next is how long to wait before it may; zero: until a
// request ends.
func (l *Limiter) dispatchOne(now time.Time) (next time.Duration, more bool) {
	held := make(map[*allowance]bool) // for a waiter that goes first
	for _, u := range l.order() {
		if l.flying[Prompt]+l.flying[Bulk] >= l.slots || l.flying[u] >= l.share() {
			continue
		}
		for i, w := range l.waiting[u] {
			a := l.of(w.model)
			if held[a] {
				continue
			}
			wait := a.wait(now, w.tokens)
			if wait > 0 && wait <= longestHold {
				held[a] = true
				if next == 0 || wait < next {
					next = wait
				}
				continue
			}
			l.waiting[u] = slices.Delete(l.waiting[u], i, i+1)
			if wait > longestHold {
				w.err = &taskerr.Error{
					Class: taskerr.AIRateLimit,
					Message: fmt.Sprintf("the model service's rate limit is spent for the next %v",
						wait.Round(time.Second)),
					RetryAfter: wait,
				}
			} else {
				w.permit = l.grant(now, u, a, w)
			}
			close(w.ready)
			return 0, true
		}
	}
	return next, false
}

// order returns the urgencies, the one to serve first in front.
func (l *Limiter) order() [urgencies]Urgency {
	if l.prompts >= promptsInARow && len(l.waiting[Bulk]) > 0 {
		return [urgencies]Urgency{Bulk, Prompt}
	}
	return [urgencies]Urgency{Prompt, Bulk}
}

// share is how many requests of one urgency may be in flight.
func (l *Limiter) share() int {
	if l.slots == 1 {
		return 1
	}
	return l.slots - max(1, l.slots/4)
}

func (l *Limiter) grant(now time.Time, u Urgency, a *allowance, w *waiter) *Permit {
	switch {
	case u == Bulk || len(l.waiting[Bulk]) == 0:
		l.prompts = 0
	default:
		l.prompts++
	}
	l.flying[u]++
	l.sent++
	a.take(now, w.tokens)
	return &Permit{limiter: l, urgency: u, model: w.model, tokens: w.tokens, number: l.sent, allowance: a}
}

// of is the allowance that a model takes from.
func (l *Limiter) of(model string) *allowance {
	if a, ok := l.models[model]; ok {
		return a
	}
	return l.common
}

// announced finds the allowance of a model that announces these limits.
func (l *Limiter) announced(model string, limits limits) *allowance {
	own, known := l.models[model]
	if known && own.limits == limits {
		return own
	}
	shared := false // what it takes from now is another's as well
	for other, a := range l.models {
		if limits.known() && a.limits == limits {
			l.models[model] = a
			return a
		}
		shared = shared || other != model && a == own
	}
	switch {
	case known && !shared: // its limits have changed
	case !known && len(l.models) == 0:
		own = l.common
	default:
		own = new(allowance)
	}
	own.limits = limits
	l.models[model] = own
	return own
}

// Permit is the right to one request. Release must be called when it is over.
type Permit struct {
	limiter   *Limiter
	urgency   Urgency
	model     string
	tokens    float64
	number    uint64
	allowance *allowance // that it was taken from
	observed  bool
	released  bool
}

// Observe learns from the headers of the answer, as soon as they are there:
// x-ratelimit-{limit,remaining,reset}-{requests,tokens}, and, of a 429, Retry-After and retry-after-ms. That of a
// 503 is for its own request alone: one text that the service breaks down over would hold up all others.
func (p *Permit) Observe(status int, header http.Header) {
	l := p.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	p.observe(status, header)
	l.dispatch()
}

func (p *Permit) observe(status int, header http.Header) {
	if p.observed {
		return
	}
	p.observed = true
	p.allowance.landed(p.tokens)
	l, now := p.limiter, p.limiter.now()
	a := l.of(p.model)
	if limits, told := limitsOf(header); told {
		a = l.announced(p.model, limits)
		a.observe(now, header, p.number)
	}
	if status == http.StatusTooManyRequests {
		if until := now.Add(retry.After(header, now)); until.After(a.paused) {
			a.paused = until
		}
	}
}

// Release gives the place back.
func (p *Permit) Release() {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.release()
	p.limiter.dispatch()
}

func (p *Permit) release() {
	if p.released {
		return
	}
	p.released = true
	p.observe(0, nil)
	p.limiter.flying[p.urgency]--
}
