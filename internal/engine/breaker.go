package engine

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// breakers are the circuit breakers of a worker, one for each dependency that has been needed.
type breakers struct {
	log    *slog.Logger
	most   time.Duration // the longest pause of each
	tuning func() *Tuning
	closes func() // called when one closes; must not block

	mu sync.Mutex
	by map[taskerr.Dependency]*circuit
}

// newBreakers makes breakers that stay open for at most pause, bounded to between a second and breakerPause.
func newBreakers(log *slog.Logger, pause time.Duration, tuning func() *Tuning, closes func()) *breakers {
	pause = min(max(pause, time.Second), breakerPause)
	return &breakers{log: log, most: pause, tuning: tuning, closes: closes, by: map[taskerr.Dependency]*circuit{}}
}

func (b *breakers) of(d taskerr.Dependency) *circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[d] == nil {
		b.by[d] = &circuit{
			of: d, probe: func() Probe { return b.tuning().Probes[d] },
			first: func() time.Duration { return b.tuning().ProbeFirst[d] },
			slots: func() int { return b.tuning().Concurrency },
			most:  b.most, closes: b.closes, log: b.log,
			state: closed, since: time.Now(), failed: map[string]bool{}, suspects: map[string]suspicion{},
			waiting: map[string]time.Time{},
		}
	}
	return b.by[d]
}

// needs are the dependencies of a job: those of its task, those for which it was released, since not all tasks of a type
// use them, and this machine once some task has lacked something.
func (b *breakers) needs(id string, ofTask []taskerr.Dependency) []taskerr.Dependency {
	needs := slices.Clip(ofTask)
	for _, c := range b.circuits() {
		if (c.of == taskerr.Machine || c.released(id)) && !slices.Contains(needs, c.of) {
			needs = append(needs, c.of)
		}
	}
	return needs
}

// probing is about how long a message is hidden while another job tries the dependency.
func (b *breakers) probing() time.Duration { return max(b.most/4, time.Second) }

// anyDown reports whether any dependency of a job is down.
func (b *breakers) anyDown(id string, ofTask []taskerr.Dependency) bool {
	return slices.ContainsFunc(b.needs(id, ofTask), func(d taskerr.Dependency) bool { return b.of(d).down() })
}

// enter admits an attempt when all its dependencies are up; otherwise it returns one that is down, and how long to
// wait. An admitted attempt has to call leave.
func (b *breakers) enter(ctx context.Context, a *attempt) (down taskerr.Dependency, wait time.Duration) {
	needs := b.needs(a.task.ID, a.spec.Needs)
	for i, d := range needs {
		if wait := b.of(d).enter(ctx, a.task.ID); wait > 0 {
			a.entered = needs[:i]
			b.leave(a)
			return d, wait
		}
	}
	a.entered = needs
	return "", 0
}

// leave is called when an admitted attempt has ended, however it ended.
func (b *breakers) leave(a *attempt) {
	for _, d := range a.entered {
		b.of(d).leave(a.task.ID)
	}
}

// succeeded records that the dependencies of an attempt are up, except those that it did not use.
func (b *breakers) succeeded(a *attempt, unused []taskerr.Dependency) {
	for _, d := range a.entered {
		if !slices.Contains(unused, d) {
			b.of(d).succeeds(a.task.ID, a.started)
		}
	}
}

// forget is called when a job has ended: its failures don't count against a later series.
func (b *breakers) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.by {
		c.forget(id)
	}
}

// circuits are the breakers by the names of their dependencies.
func (b *breakers) circuits() []*circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.SortedFunc(maps.Values(b.by), func(x, y *circuit) int { return cmp.Compare(x.of, y.of) })
}

// health lists the dependencies that have been needed, by name.
func (b *breakers) health() []DependencyHealth {
	all := []DependencyHealth{}
	for _, c := range b.circuits() {
		if h, needed := c.health(); needed {
			all = append(all, h)
		}
	}
	return all
}
