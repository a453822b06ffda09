package openai

import (
	"math"
	"net/http"
	"time"
)

// limits are what a service announces; zero: it doesn't.
type limits struct{ requests, tokens float64 }

func (l limits) known() bool { return l != limits{} }

// limitsOf reads what an answer says of limits. told: it says something, though maybe not how high they are.
func limitsOf(h http.Header) (l limits, told bool) {
	l.requests, _ = number(h.Get("X-Ratelimit-Limit-Requests"))
	l.tokens, _ = number(h.Get("X-Ratelimit-Limit-Tokens"))
	return l, l.known() || h.Get("X-Ratelimit-Remaining-Requests") != "" || h.Get("X-Ratelimit-Remaining-Tokens") != ""
}

// allowance is what may be sent to a model, or to some together. The zero value allows everything.
type allowance struct {
	limits   limits
	requests budget
	tokens   budget
	pace     pace
	paused   time.Time // nothing is sent before it
	latest   uint64    // the number of the youngest request whose answer was seen

	// Sent, with no answer yet: whether the service has counted them is not known.
	flying       float64
	flyingTokens float64
}

// wait is how long until a request of so many tokens may go.
func (a *allowance) wait(now time.Time, tokens float64) time.Duration {
	a.requests.refill(now)
	a.tokens.refill(now)
	return max(a.paused.Sub(now), a.pace.wait(now), a.requests.wait(now, 1), a.tokens.wait(now, tokens))
}

func (a *allowance) take(now time.Time, tokens float64) {
	a.requests.level--
	a.tokens.level -= tokens
	a.flying++
	a.flyingTokens += tokens
	a.pace.take(now)
}

func (a *allowance) landed(tokens float64) {
	a.flying--
	a.flyingTokens -= tokens
}

// observe takes over what the answer to the request of that number says. Answers of parallel requests come out of
// order: one to an older request than was heard of already can only make the budgets smaller.
func (a *allowance) observe(now time.Time, h http.Header, request uint64) {
	latest := request > a.latest
	a.latest = max(a.latest, request)
	a.requests.observe(now, h, "Requests", a.flying, latest)
	a.tokens.observe(now, h, "Tokens", a.flyingTokens, latest)
	a.pace.learn(a.limits.requests, h)
}

// pace keeps requests apart, so that in no period more of them are sent than the service announces, and a twentieth.
// The budget alone would allow for twice as many in the first: those that it holds, and those that come back. Azure
// OpenAI also counts within seconds what it announces for a minute.
//
// It is the generic cell rate algorithm (ITU-T I.371) with a burst of a twentieth.
type pace struct {
	limit  float64       // requests in a period; zero: not known, and no limit
	period time.Duration // of the limit
	next   time.Time     // when the next request is due were they evenly spaced
	recent []time.Time   // when the last were sent, the oldest first
}

const (
	paceBurst  = 0.05
	paceRecent = 128
	// paceLongest is the period unless a service fills up faster. Limits of a day are left to their budget: who has
	// them may use them at once.
	paceLongest = time.Minute
)

func (p *pace) interval() time.Duration {
	return time.Duration(math.Ceil(float64(p.period) / p.limit))
}

func (p *pace) wait(now time.Time) time.Duration {
	if p.limit == 0 {
		return 0
	}
	burst := max(1, math.Floor(p.limit*paceBurst))
	return p.next.Add(-time.Duration(burst-1) * p.interval()).Sub(now)
}

func (p *pace) take(now time.Time) {
	if len(p.recent) == paceRecent {
		copy(p.recent, p.recent[1:])
		p.recent = p.recent[:paceRecent-1]
	}
	p.recent = append(p.recent, now)
	p.due(now)
}

// due notes that a request was sent.
func (p *pace) due(at time.Time) {
	if p.limit == 0 {
		return
	}
	if at.After(p.next) {
		p.next = at
	}
	p.next = p.next.Add(p.interval())
}

// learn takes over a limit. Its period is not told: a bucket of which so much is gone, and that is full again after
// so long, fills in the period. What remains is told in whole numbers, so that this is too short at times, and the
// longest counts.
func (p *pace) learn(limit float64, h http.Header) {
	if limit < 1 {
		return
	}
	period := p.period
	if limit != p.limit {
		period = 0
	}
	remaining, ok := number(h.Get("X-Ratelimit-Remaining-Requests"))
	reset, told := duration(h.Get("X-Ratelimit-Reset-Requests"))
	if ok && told && remaining < limit && reset > 0 {
		period = max(period, usual(time.Duration(float64(reset)*limit/(limit-remaining))))
	}
	if period == 0 || period > paceLongest {
		period = paceLongest
	}
	if limit == p.limit && period == p.period {
		return
	}
	p.limit, p.period, p.next = limit, period, time.Time{}
	for _, at := range p.recent { // they count as if the limit had been known
		p.due(at)
	}
}

// usual takes a period that is nearly a usual one for that: times are rounded.
func usual(period time.Duration) time.Duration {
	for _, u := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		if off := (period - u).Abs(); off < u/20 {
			return u
		}
	}
	return period
}
