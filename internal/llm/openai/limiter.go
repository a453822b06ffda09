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

// longestHold is how long a request may wait before it fails with ai_rate_limit: budgets per minute refill within it,
// those per day don't.
const longestHold = time.Minute

// longestPause bounds what a Retry-After does to the requests of all tasks. It is job.MaxRetryAfter, after which a task is
// tried again at the latest: a pause of a day, which one answer of a proxy may ask for, would fail each attempt of each
// task of the day without a request.
const longestPause = 10 * time.Minute

// Urgency is the priority class of a request.
type Urgency int

// The urgencies.
const (
	Prompt   Urgency = iota // one of few requests that a task waits for: chat
	Question                // the question of a search, a short request for which a caller waits
	Bulk                    // one of many: embeddings of documents, pages
	probing                 // a probe
	urgencies
)

// How many requests are sent in a row while one of a later urgency waits.
const (
	promptsInARow   = 3 // prompts and questions, while a bulk request waits
	questionsInARow = 3 // questions, while a prompt waits
)

// Limiter keeps a process within the rate limits of one account: a number of requests in flight, none while the service
// reports that its budget of requests or tokens is spent or demands a pause, and not faster than the announced limit.
// It is safe for concurrent use.
//
// Questions precede prompt requests, and both bulk ones, except that every fourth request is bulk; a quarter of those in
// flight is reserved for prompts, and one for bulk, unless the account has requests of one urgency alone (see Resize).
// Questions take what is free of any, and while prompts wait, every fourth request is no question. The first waiter in
// that order waits for the budget it needs, and none that needs the same budget overtakes it. A probe precedes all, beside
// those in flight: it would time out behind slow requests of a service that is up.
//
// Services limit each model by itself, or some models together. Models that announce the same limits are assumed to
// share them; a model that has announced none yet is assumed to share those of the first model that has.
type Limiter struct {
	slots int
	whole bool // nothing is reserved
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	after func(time.Duration, func())

	mu        sync.Mutex
	waiting   [urgencies][]*waiter
	flying    [urgencies]int
	prompts   int       // and questions, sent in a row while a bulk one waited
	questions int       // sent in a row while a prompt waited
	sent      uint64    // the number of requests sent; it numbers them
	alarm     time.Time // when to dispatch next; zero: not set
	common    *allowance
	models    map[string]*allowance // of those that have announced their limits
}

// waiter is a request that waits for its permit.
type waiter struct {
	model  string
	tokens float64
	ready  chan struct{} // closed when permit or err is set
	permit *Permit       // the right to send
	err    error         // why it must not be sent
}

// NewLimiter allows this many requests in flight, at least 2 where both urgencies are used.
func NewLimiter(inFlight int) *Limiter {
	return &Limiter{
		slots: max(1, inFlight), now: time.Now, sleep: retry.Sleep,
		after:  func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		common: new(allowance), models: make(map[string]*allowance),
	}
}

// Resize changes how many requests may be in flight. It does not affect those that are. shared tells whether a part is
// reserved for each urgency.
func (l *Limiter) Resize(inFlight int, shared bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slots, l.whole = max(1, inFlight), !shared
	l.dispatch()
}

// Acquire waits until a request of about this many tokens may be sent to a model. The error is the cause of ctx's end,
// or an ai_rate_limit if the wait would be longer than a minute. See retry.Waiting.
func (l *Limiter) Acquire(ctx context.Context, u Urgency, model string, tokens int) (*Permit, error) {
	w := &waiter{model: model, tokens: float64(tokens), ready: make(chan struct{})}
	l.mu.Lock()
	l.waiting[u] = append(l.waiting[u], w)
	l.dispatch()
	l.mu.Unlock()
	defer retry.Waiting(ctx)()
	select {
	case <-w.ready:
		return w.permit, w.err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting[u], w); i >= 0 {
		l.waiting[u] = slices.Delete(l.waiting[u], i, i+1)
	} else if w.permit != nil { // it was granted as ctx ended
		w.permit.release()
	}
	l.dispatch()
	return nil, context.Cause(ctx)
}

// dispatch sends all requests that may be sent now, and sets an alarm for the next one. It is called with the lock
// held, after every change.
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

// ring dispatches again when the alarm fires.
func (l *Limiter) ring(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alarm.Equal(at) {
		l.alarm = time.Time{}
	}
	l.dispatch()
}

// dispatchOne decides about one waiter. more: it decided. Otherwise next is how long to wait before the next decision;
// zero: until a request ends.
func (l *Limiter) dispatchOne(now time.Time) (next time.Duration, more bool) {
	held := make(map[*allowance]bool) // reserved for an earlier waiter
	for _, u := range l.order() {
		if u != probing && l.flying[Question]+l.flying[Prompt]+l.flying[Bulk] >= l.slots ||
			u != probing && u != Question && l.flying[u] >= l.share() {
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
	first, second := Question, Prompt
	if l.questions >= questionsInARow && len(l.waiting[Prompt]) > 0 {
		first, second = Prompt, Question
	}
	if l.prompts >= promptsInARow && len(l.waiting[Bulk]) > 0 {
		return [urgencies]Urgency{probing, Bulk, first, second}
	}
	return [urgencies]Urgency{probing, first, second, Bulk}
}

// share is how many requests of one urgency may be in flight.
func (l *Limiter) share() int {
	if l.whole || l.slots == 1 {
		return l.slots
	}
	return l.slots - max(1, l.slots/4)
}

func (l *Limiter) grant(now time.Time, u Urgency, a *allowance, w *waiter) *Permit {
	switch {
	case u == probing:
	case u == Bulk || len(l.waiting[Bulk]) == 0:
		l.prompts = 0
	default:
		l.prompts++
	}
	switch {
	case u == Prompt || len(l.waiting[Prompt]) == 0:
		l.questions = 0
	case u == Question:
		l.questions++
	}
	l.flying[u]++
	l.sent++
	a.take(now, w.tokens)
	return &Permit{limiter: l, urgency: u, model: w.model, tokens: w.tokens, number: l.sent, allowance: a}
}

// of returns the allowance of a model.
func (l *Limiter) of(model string) *allowance {
	if a, ok := l.models[model]; ok {
		return a
	}
	return l.common
}

// announced returns the allowance of a model that announces these limits.
func (l *Limiter) announced(model string, limits limits) *allowance {
	own, known := l.models[model]
	if known && own.limits == limits {
		return own
	}
	shared := false // the allowance is shared with another model
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

// Permit is the right to send one request. Release must be called when it has ended.
type Permit struct {
	limiter   *Limiter
	urgency   Urgency
	model     string
	tokens    float64
	number    uint64
	allowance *allowance // of the request's model
	observed  bool
	released  bool
}

// Observe learns from the headers of a response, as soon as they are there:
// x-ratelimit-{limit,remaining,reset}-{requests,tokens}, and, of a 429, Retry-After and retry-after-ms. Those of a 503
// apply to its own request only: one text that makes the service fail would hold up all others.
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
	if limits, announced := limitsOf(header); announced {
		a = l.announced(p.model, limits)
		a.observe(now, header, p.number)
	}
	if status == http.StatusTooManyRequests {
		if until := now.Add(min(retry.After(header, now), longestPause)); until.After(a.paused) {
			a.paused = until
		}
	}
}

// Release ends the permit.
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
