package engine

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

// A circuit breaker opens after so many attempts in a row that failed by the fault of one dependency. While
// it is open no task that needs the dependency is started, and none is counted an attempt; after the pause
// one is let through to see.
const (
	breakerTrips = 3
	breakerPause = 15 * time.Second
)

// errUndecided ends an attempt that says nothing of its dependencies: canceled, drained, lost.
var errUndecided = errors.New("engine: the attempt says nothing of its dependencies")

// breakers are the circuit breakers of a worker, one for each dependency that has been needed. Source:
// Michael Nygard, "Release It!", 2007.
type breakers struct {
	log *slog.Logger
	mu  *sync.Mutex
	by  map[job.Dependency]*gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newBreakers(log *slog.Logger) breakers {
	return breakers{log: log, mu: new(sync.Mutex), by: map[job.Dependency]*gobreaker.TwoStepCircuitBreaker[struct{}]{}}
}

func (b breakers) of(d job.Dependency) *gobreaker.TwoStepCircuitBreaker[struct{}] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[d] == nil {
		b.by[d] = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: string(d), Timeout: breakerPause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerTrips },
			IsExcluded:  func(err error) bool { return errors.Is(err, errUndecided) },
			OnStateChange: func(name string, _, to gobreaker.State) {
				b.log.Warn("circuit breaker", "dependency", name, "state", to.String())
			},
		})
	}
	return b.by[d]
}

// open says whether tasks that need d are not to be started.
func (b breakers) open(d job.Dependency) bool {
	return d != "" && b.of(d).State() == gobreaker.StateOpen
}

// anyOpen says whether one of what a task needs is down.
func (b breakers) anyOpen(needs []job.Dependency) bool { return slices.ContainsFunc(needs, b.open) }

// admit lets an attempt pass when all that it needs is up, and gives it its report; otherwise it names what
// is down.
func (b breakers) admit(a *attempt) (down job.Dependency) {
	var reports []func(error)
	a.report = func(error) {}
	for _, d := range a.spec.Needs {
		report, err := b.of(d).Allow()
		if err != nil {
			tellAll(reports, errUndecided)
			return d
		}
		reports = append(reports, func(err error) { report(blamed(d, err)) })
	}
	var once sync.Once
	a.report = func(err error) { once.Do(func() { tellAll(reports, err) }) }
	return ""
}

// blamed is what an attempt's end says of d: success that it is up, an error that names it that it is not,
// and any other error nothing.
func blamed(d job.Dependency, err error) error {
	if failure, ok := errors.AsType[*job.Error](err); ok && failure.Dependency != d {
		return errUndecided
	}
	return err
}

func tellAll(reports []func(error), err error) {
	for _, report := range reports {
		report(err)
	}
}
