package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/engine"
)

// State is read at each scrape, without requests to services.
type State struct {
	Health func() engine.Health
	// Checks returns the checks of readiness by name, and whether each passes.
	Checks func() map[string]bool
	Alive  func() bool

	types knownTypes // set by Watch
}

// Describe implements prometheus.Collector.
func (State) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []Definition{slots, slotsUsed, typeLimit, breakers, checks, ready, alive, draining} {
		to <- d.desc()
	}
}

// Collect implements prometheus.Collector.
func (s State) Collect(to chan<- prometheus.Metric) {
	h := s.Health()
	to <- slots.now(float64(h.Slots))
	to <- slotsUsed.now(float64(h.Running))
	to <- draining.now(truth(h.Draining))
	for _, t := range h.Types {
		if label := s.types.label(t.Type); label != other {
			to <- typeLimit.now(float64(t.Limit), label)
		}
	}
	for _, d := range h.Dependencies {
		for _, state := range []string{"closed", "half-open", "open"} {
			to <- breakers.now(truth(d.State == state), string(d.Name), state)
		}
	}
	all := true
	for name, passes := range s.Checks() {
		all = all && passes
		to <- checks.now(truth(passes), name)
	}
	to <- ready.now(truth(all))
	to <- alive.now(truth(s.Alive()))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
