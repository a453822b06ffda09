package engine

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The limit of running tasks of a type adapts to the results of its last attempts: additive increase,
// multiplicative decrease. When half of them failed the limit is halved, at least 1; it grows by one after a
// round of attempts that went well, and after a quiet minute. Source: Dah-Ming Chiu, Raj Jain, "Analysis of
// the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks", Computer Networks and
// ISDN Systems 17, 1989.
//
// The circuit breaker handles a service that is down; limits handle what half works: a rate limit, an overloaded
// service, a machine that is too small, a bug that some documents trigger.
const (
	limitWindow   = 2 * time.Minute        // older results are ignored
	limitEnds     = 20                     // how many of the last results count
	limitJudged   = 10                     // and how many are needed before the limit is halved
	limitRound    = 5                      // successes in a row that raise it, or as many as the limit
	limitQuiet    = time.Minute            // without a failure also raises it
	limitShortest = 2 * time.Second        // for which a message is hidden when its type is at its limit
	urgentMost    = 5 * time.Minute        // for which a message is hidden that is urgent or has begun
	limitLongest  = time.Minute            // unless more are deferred than can be received meanwhile
	limitStep     = 500 * time.Millisecond // per message deferred before it, unless attempts take longer
)

// limits are the limits of all task types of a worker.
type limits struct {
	most int // Config.Concurrency
	log  *slog.Logger

	mu sync.Mutex
	by map[task.Type]*limit
}

// limit is how many tasks of one type may run at a time, and the results that determine it.
type limit struct {
	now       int // the limit
	running   int
	ends      []attemptEnd  // within the window, the oldest first
	good      int           // successes in a row since the last change
	calm      time.Time     // the last change or failure
	took      time.Duration // an attempt, as a moving average
	nextStart time.Time     // when the last deferred message may begin, by that average
	lastBack  time.Time     // when the last of those comes back that are hidden for limitLongest and more
	// urgentBack is the same for those that are urgent or have begun.
	urgentBack time.Time
	trouble    *Trouble // why the last attempt failed; nil: it succeeded
}

type attemptEnd struct {
	at     time.Time
	job    string
	failed bool
}

func newLimits(most int, log *slog.Logger) *limits {
	return &limits{most: most, log: log, by: map[task.Type]*limit{}}
}

// resize changes how many tasks may run in total. A limit that was not lowered follows it.
func (l *limits) resize(most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range l.by {
		if limit.now == l.most {
			limit.now = most
		}
		limit.now = min(limit.now, most)
	}
	l.most = most
}

// of returns the limit of a type; mu is held.
func (l *limits) of(t task.Type) *limit {
	if l.by[t] == nil {
		l.by[t] = &limit{now: l.most, calm: time.Now()}
	}
	l.quiet(t, l.by[t])
	return l.by[t]
}

// enter takes one of the places of a type. When all are taken it returns how long to hide the message: until the
// messages deferred before it have started. So a long backlog of one type comes back at the rate at which it can be
// processed, and leaves the queue to other types meanwhile. What would wait for longer than limitLongest comes back earlier,
// but one after the other, within longest: some queues return what was hidden before what is new, so half of what the other
// slots can receive is left to that. own is the type's own limit; zero: it has none.
func (l *limits) enter(t task.Type, own int, longest time.Duration) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.of(t)
	most := limit.now
	if own > 0 {
		most = min(most, own)
	}
	now := time.Now()
	if limit.running < most {
		limit.running++
		if limit.nextStart.Before(now) { // none was deferred lately: the backlog is gone
			limit.lastBack, limit.urgentBack = time.Time{}, time.Time{}
		}
		return 0
	}
	if limit.nextStart.Before(now) {
		limit.nextStart = now
	}
	limit.nextStart = limit.nextStart.Add(max(limit.took, limitStep) / time.Duration(most))
	latest := now.Add(limitLongest)
	if !limit.nextStart.After(latest) {
		return jittered(max(limit.nextStart.Sub(now), limitShortest))
	}
	limit.nextStart = latest
	back := &limit.lastBack
	if longest <= urgentMost {
		back = &limit.urgentBack
	}
	if limit.now < l.most { // it recovers within minutes, and places must not stay empty for longer
		longest = min(longest, urgentMost)
	}
	step := 2 * rejectedMost / time.Duration(max(1, l.most-most))
	if limit.took > 0 { // short tasks need more: several for each place that becomes free
		step = min(step, limit.took/time.Duration(4*most))
	}
	wait = min(max(back.Sub(now), limitLongest)+step, longest)
	if at := now.Add(wait); at.After(*back) {
		*back = at
	}
	return jittered(wait)
}

// leave gives a place back.
func (l *limits) leave(t task.Type) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(t).running--
}

// ended records how an attempt ended, with the Observer's outcome and class. Results that say nothing about the type
// don't count: an error of the task itself, a cancel, a release, a lost lease.
func (l *limits) ended(t task.Type, jobID, outcome string, class taskerr.Class, hint string, took time.Duration) {
	failed := class != "" && !blameless(class)
	if !failed && outcome != string(job.Succeeded) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.of(t)
	if limit.took == 0 {
		limit.took = took
	}
	limit.took += (took - limit.took) / 4
	now := time.Now()
	limit.note(attemptEnd{now, jobID, failed})
	if !failed {
		limit.trouble = nil
		limit.good++
		if limit.good >= max(limitRound, limit.now) {
			l.raise(t, limit, 1)
		}
		return
	}
	limit.good, limit.calm = 0, now
	limit.trouble = limit.trouble.again(now, class, hint)
	l.judge(t, limit)
}

// note adds a result to the window. Only the last failure of a job counts: one task that fails repeatedly says nothing
// about others of its type.
func (l *limit) note(end attemptEnd) {
	l.ends = slices.DeleteFunc(l.ends, func(e attemptEnd) bool { return e.failed && end.failed && e.job == end.job })
	l.ends = append(l.ends, end)
	for len(l.ends) > limitEnds || end.at.Sub(l.ends[0].at) > limitWindow {
		l.ends = l.ends[1:]
	}
}

// judge halves a limit when at least half of the attempts in its window failed, and clears the window: results under
// the old limit don't count against the new one.
func (l *limits) judge(t task.Type, limit *limit) {
	failures := 0
	for _, e := range limit.ends {
		if e.failed {
			failures++
		}
	}
	ends := len(limit.ends)
	if ends < limitJudged || 2*failures < ends {
		return
	}
	was := limit.now
	limit.now, limit.ends = max(1, was/2), nil
	if limit.now < was {
		l.log.Warn("many attempts of a task type fail: fewer of its tasks run at a time until it recovers",
			event.Key, event.TypeLimited, "task_type", t, "limit", limit.now, "was", was, "concurrency", l.most,
			"failed", failures, "of", ends,
			"error_class", limit.trouble.Class, "hint", limit.trouble.Hint)
	}
}

// quiet raises a limit by one for each minute without a failure.
func (l *limits) quiet(t task.Type, limit *limit) {
	if minutes := int(time.Since(limit.calm) / limitQuiet); minutes > 0 {
		l.raise(t, limit, minutes)
	}
}

func (l *limits) raise(t task.Type, limit *limit, by int) {
	was := limit.now
	limit.now, limit.good, limit.calm = min(was+by, l.most), 0, time.Now()
	if limit.now > was {
		l.log.Info("a task type recovers: more of its tasks may run at a time", "task_type", t, "limit", limit.now,
			"was", was,
			"concurrency", l.most)
	}
}

// blameless reports whether an error of the class is the task's or its sender's fault, and not the machine's.
func blameless(c taskerr.Class) bool {
	switch c {
	case taskerr.ValidationError, taskerr.UnsupportedFormat, taskerr.ContentMissing, taskerr.CorruptionDetected,
		taskerr.QuotaExceeded:
		return true
	default:
		return false
	}
}
