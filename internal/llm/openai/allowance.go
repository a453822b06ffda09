package openai

import (
	"math"
	"net/http"
	"time"
)

// limits are the limits that a service announces; zero: none.
type limits struct{ requests, tokens float64 }

func (l limits) known() bool { return l != limits{} }

// limitsOf reads the limits of a response. announced: it has some headers of limits, maybe not the limits themselves.
func limitsOf(h http.Header) (l limits, announced bool) {
	l.requests, _ = number(h.Get("X-Ratelimit-Limit-Requests"))
	l.tokens, _ = number(h.Get("X-Ratelimit-Limit-Tokens"))
	return l, l.known() || h.Get("X-Ratelimit-Remaining-Requests") != "" || h.Get("X-Ratelimit-Remaining-Tokens") != ""
}

// allowance is what may be sent to a model, or to several that share it. The zero value allows everything.
type allowance struct {
	limits   limits
	requests budget
	tokens   budget
	spacing  spacing
	paused   time.Time // nothing is sent before it
	heard    time.Time // when a request was last sent, or answered with limits
	latest   uint64    // the highest number of a request whose response was seen

	// Requests sent without a response yet: the service may or may not have counted them.
	flying       float64
	flyingTokens float64
}

// wait returns how long until a request of this many tokens may be sent. Where announced limits demand a longer wait than
// longestPause, one request is sent each longestPause: the header may be in another unit, and the next answer tells.
func (a *allowance) wait(now time.Time, tokens float64) time.Duration {
	a.requests.refill(now)
	a.tokens.refill(now)
	limits := max(a.requests.wait(now, 1), a.tokens.wait(now, tokens), a.spacing.wait(now))
	return max(a.paused.Sub(now), min(limits, a.heard.Add(longestPause).Sub(now)))
}

func (a *allowance) take(now time.Time, tokens float64) {
	a.requests.level--
	a.tokens.level -= tokens
	a.flying++
	a.flyingTokens += tokens
	a.heard = now
	a.spacing.take(now)
}

func (a *allowance) landed(tokens float64) {
	a.flying--
	a.flyingTokens -= tokens
}

// observe updates the budgets from the response to the request of that number. Responses to parallel requests arrive
// out of order: one to an older request than the latest can only lower the budgets.
func (a *allowance) observe(now time.Time, h http.Header, request uint64) {
	latest := request > a.latest
	a.latest, a.heard = max(a.latest, request), now
	a.requests.observe(now, h, "Requests", a.flying, latest)
	a.tokens.observe(now, h, "Tokens", a.flyingTokens, latest)
	a.spacing.learn(a.limits.requests, h)
}

// spacing spaces requests, so that in no period more of them are sent than the service announces, plus a twentieth. The
// budget alone would allow twice as many in the first period: those that it holds, and those that refill. Azure OpenAI
// also enforces within seconds what it announces for a minute.
//
// It is the generic cell rate algorithm (ITU-T I.371) with a burst of a twentieth.
type spacing struct {
	limit  float64       // requests in a period; zero: not known, and no limit
	period time.Duration // of the limit
	next   time.Time     // the theoretical time of the next request, at even spacing
	recent []time.Time   // when the last were sent, the oldest first
}

const (
	paceBurst  = 0.05
	paceRecent = 128
	// paceLongest is the period unless a service refills faster. Limits per day are left to their budget: they may be
	// used at once.
	paceLongest = time.Minute
)

func (p *spacing) interval() time.Duration {
	return time.Duration(math.Ceil(float64(p.period) / p.limit))
}

func (p *spacing) wait(now time.Time) time.Duration {
	if p.limit == 0 {
		return 0
	}
	burst := max(1, math.Floor(p.limit*paceBurst))
	return p.next.Add(-time.Duration(burst-1) * p.interval()).Sub(now)
}

func (p *spacing) take(now time.Time) {
	if len(p.recent) == paceRecent {
		copy(p.recent, p.recent[1:])
		p.recent = p.recent[:paceRecent-1]
	}
	p.recent = append(p.recent, now)
	p.due(now)
}

// due records that a request was sent.
func (p *spacing) due(at time.Time) {
	if p.limit == 0 {
		return
	}
	if at.After(p.next) {
		p.next = at
	}
	p.next = p.next.Add(p.interval())
}

// learn updates the limit. The service does not announce its period: a bucket that has lost this much and is full again
// after this long refills in the period. What remains is a whole number, so this estimate is sometimes too short, and
// the longest counts.
func (p *spacing) learn(limit float64, h http.Header) {
	if limit < 1 {
		return
	}
	period := p.period
	if limit != p.limit {
		period = 0
	}
	remaining, ok := number(h.Get("X-Ratelimit-Remaining-Requests"))
	reset, announced := duration(h.Get("X-Ratelimit-Reset-Requests"))
	if ok && announced && remaining < limit && reset > 0 {
		period = max(period, usual(time.Duration(float64(reset)*limit/(limit-remaining))))
	}
	if period == 0 || period > paceLongest {
		period = paceLongest
	}
	if limit == p.limit && period == p.period {
		return
	}
	p.limit, p.period, p.next = limit, period, time.Time{}
	for _, at := range p.recent { // count them as if the limit had been known
		p.due(at)
	}
}

// usual rounds a period to a usual one that is near: times are rounded.
func usual(period time.Duration) time.Duration {
	for _, u := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		if off := (period - u).Abs(); off < u/20 {
			return u
		}
	}
	return period
}
