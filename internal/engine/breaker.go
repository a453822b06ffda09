package engine

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// A circuit breaker opens after so many attempts in a row that failed by the fault of one dependency. While
// it is open no task that needs the dependency is started, and none is counted an attempt; after the pause
// one is let through to see. The pause is at most Config.PollMax, so that work resumes that soon.
const (
	breakerTrips = 3
	breakerPause = 15 * time.Second
	// breakerMargin is how much earlier than its pause a breaker lets one through: the messages that wait for
	// it are hidden for whole seconds, and should find it ready.
	breakerMargin = 100 * time.Millisecond
)

// errUndecided ends an attempt that says nothing of its dependencies: canceled, drained, lost.
var errUndecided = errors.New("engine: the attempt says nothing of its dependencies")

// without is the success of an attempt that did not need some of its type's dependencies.
type without []job.Dependency

func (without) Error() string { return "engine: the attempt succeeded without these" }

func succeeded(unused []job.Dependency) error {
	if len(unused) == 0 {
		return nil
	}
	return without(unused)
}

// breakers are the circuit breakers of a worker, one for each dependency that has been needed. Source:
// Michael Nygard, "Release It!", 2007.
type breakers struct {
	log    *slog.Logger
	pause  time.Duration // how long one stays open
	closed func()        // called when one closes; must not block

	mu sync.Mutex
	by map[job.Dependency]*fuse
}

// fuse is one circuit breaker.
type fuse struct {
	of      job.Dependency
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu      sync.Mutex // not held while breaker is asked: that may call turned
	since   time.Time  // when it opened for the first time since it was closed, or closed
	until   time.Time  // when it lets one through
	trouble *Trouble   // the last failure; nil: none
}

// newBreakers makes breakers that stay open for pause, at most breakerPause and at least a second.
func newBreakers(log *slog.Logger, pause time.Duration, closed func()) *breakers {
	pause = min(max(pause, time.Second), breakerPause)
	return &breakers{log: log, pause: pause, closed: closed, by: map[job.Dependency]*fuse{}}
}

func (b *breakers) of(d job.Dependency) *fuse {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[d] == nil {
		f := &fuse{of: d, since: time.Now()}
		f.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: string(d), Timeout: b.pause - breakerMargin,
			ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerTrips },
			IsExcluded:    func(err error) bool { return errors.Is(err, errUndecided) },
			OnStateChange: func(_ string, from, to gobreaker.State) { b.turned(f, from, to) },
		})
		b.by[d] = f
	}
	return b.by[d]
}

// turned notes a change of state. Opening and closing are logged once, what is tried in between is not.
func (b *breakers) turned(f *fuse, from, to gobreaker.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	switch to {
	case gobreaker.StateOpen:
		f.until = now.Add(b.pause - breakerMargin)
		if from == gobreaker.StateClosed {
			f.since = now
			b.log.Warn("circuit breaker", event.Key, event.BreakerOpen, "dependency", f.of, "state", to.String(), "error_class", f.trouble.Class, "hint", f.trouble.Hint,
				"meanwhile", "tasks that need it wait without an attempt, and one tries it every "+b.pause.String())
		}
	case gobreaker.StateClosed:
		b.log.Warn("circuit breaker", event.Key, event.BreakerClosed, "dependency", f.of, "state", to.String(), "down_for", now.Sub(f.since).Round(time.Second))
		f.since, f.trouble = now, nil
		b.closed()
	}
}

// probing is about how long a message is hidden that comes while another one tries the dependency: when that one
// succeeds the others don't wait for a whole pause more.
func (b *breakers) probing() time.Duration { return max(b.pause/4, time.Second) }

// wait is how long tasks that need d have to wait, at least a second; zero: d is up, as far as is known.
func (b *breakers) wait(d job.Dependency) time.Duration {
	if d == "" {
		return 0
	}
	f := b.of(d)
	switch f.breaker.State() {
	case gobreaker.StateOpen:
		f.mu.Lock()
		defer f.mu.Unlock()
		return max(time.Until(f.until), time.Second)
	case gobreaker.StateHalfOpen:
		return jittered(b.probing())
	default:
		return 0
	}
}

// anyDown says whether one of what a task needs is down, or is just being tried.
func (b *breakers) anyDown(needs []job.Dependency) bool {
	return slices.ContainsFunc(needs, func(d job.Dependency) bool { return b.wait(d) > 0 })
}

// admit lets an attempt pass when all that it needs is up, and gives it its report; otherwise it names what
// is down and how long to wait.
func (b *breakers) admit(a *attempt) (down job.Dependency, wait time.Duration) {
	var reports []func(error)
	a.report = func(error) {}
	for _, d := range a.spec.Needs {
		f := b.of(d)
		report, err := f.breaker.Allow()
		if err != nil {
			tellAll(reports, errUndecided)
			return d, max(b.wait(d), time.Second) // it may have closed meanwhile
		}
		reports = append(reports, func(err error) { f.ended(err, report) })
	}
	var once sync.Once
	a.report = func(err error) { once.Do(func() { tellAll(reports, err) }) }
	return "", 0
}

// ended reports what an attempt's end says of a dependency: success that it is up, an error that names it that
// it is not, and any other error nothing.
func (f *fuse) ended(err error, report func(error)) {
	failure, failed := errors.AsType[*job.Error](err)
	unused, partly := errors.AsType[without](err)
	switch {
	case partly && slices.Contains(unused, f.of):
		err = errUndecided
	case partly:
		err = nil
	case failed && failure.Dependency == f.of:
		f.mu.Lock()
		f.trouble = f.trouble.again(time.Now(), failure.Class, hint(failure)) // before it may open
		f.mu.Unlock()
	case failed:
		err = errUndecided
	}
	report(err)
	if err == nil && f.breaker.State() == gobreaker.StateClosed {
		f.mu.Lock()
		f.trouble = nil
		f.mu.Unlock()
	}
}

func tellAll(reports []func(error), err error) {
	for _, report := range reports {
		report(err)
	}
}

// health lists the dependencies that have been needed, by name.
func (b *breakers) health() []DependencyHealth {
	b.mu.Lock()
	fuses := make([]*fuse, 0, len(b.by))
	for _, f := range b.by {
		fuses = append(fuses, f)
	}
	b.mu.Unlock()
	all := make([]DependencyHealth, 0, len(fuses))
	for _, f := range fuses {
		state := f.breaker.State().String()
		f.mu.Lock()
		all = append(all, DependencyHealth{Name: f.of, State: state, Since: f.since, Trouble: f.trouble})
		f.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b DependencyHealth) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
