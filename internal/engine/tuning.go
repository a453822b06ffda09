package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Tuning is the part of Config and Deps that can be changed while an engine runs. An attempt keeps the handler and the
// timeout that it began with.
type Tuning struct {
	Concurrency      int
	PollMin, PollMax time.Duration
	TaskTimeout      time.Duration
	DrainMax         time.Duration
	MaxAttempts      int
	Backoff          time.Duration
	WaitMax          time.Duration
	MaxReleases      int
	Handlers         handlers.Registry
	Probes           Probes
	ProbeFirst       map[taskerr.Dependency]time.Duration
}

// Tuning returns the changeable part of the Config, with handlers and the probes of their dependencies.
func (c Config) Tuning(hs handlers.Registry, probes Probes) Tuning {
	return Tuning{
		Concurrency: c.Concurrency, PollMin: c.PollMin, PollMax: c.PollMax, TaskTimeout: c.TaskTimeout,
		DrainMax:    c.DrainMax,
		MaxAttempts: c.MaxAttempts, Backoff: c.Backoff, Handlers: hs, Probes: probes, ProbeFirst: c.ProbeFirst,
		WaitMax: cmp.Or(c.WaitMax, DefaultWaitMax), MaxReleases: cmp.Or(c.MaxReleases, DefaultMaxReleases),
	}
}

func (t Tuning) check() error {
	switch {
	case t.Concurrency < 1:
		return fmt.Errorf("engine: concurrency %d is below 1", t.Concurrency)
	case t.PollMin <= 0 || t.PollMax < t.PollMin:
		return fmt.Errorf("engine: poll interval %v to %v is not a range", t.PollMin, t.PollMax)
	case t.TaskTimeout <= 0:
		return fmt.Errorf("engine: a task timeout of %v is not positive", t.TaskTimeout)
	}
	return nil
}

// tuning returns the current tuning. It is immutable: Retune replaces it.
func (e *Engine) tuning() *Tuning { return e.live.Load() }

// Retune changes how the engine works from now on. Running tasks above a lower concurrency finish. The pause of a
// circuit breaker stays as at the start. On error nothing is changed.
func (e *Engine) Retune(t Tuning) error {
	if err := t.check(); err != nil {
		return err
	}
	e.live.Store(&t)
	e.throttle.setBounds(t.PollMin, t.PollMax)
	e.limits.resize(t.Concurrency)
	e.slots.resize(t.Concurrency)
	e.Wake() // a wait under the old bounds may be long
	return nil
}

// follow applies what Retune changed. It is called before each poll.
func (p *poller) follow() {
	t := p.tuning()
	p.priority.total = t.Concurrency
}
