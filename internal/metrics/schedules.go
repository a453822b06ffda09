package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/schedule"
)

// schedules counts the firings of schedules.
type schedules struct {
	firings  *prometheus.CounterVec
	lateness *prometheus.HistogramVec
}

func newSchedules() *schedules {
	s := &schedules{firings: firings.counter(), lateness: firingLateness.histogram()}
	s.lateness.WithLabelValues()
	for _, o := range []schedule.Outcome{schedule.Fired, schedule.Skipped, schedule.Missed, schedule.Stopped} {
		s.firings.WithLabelValues(string(o))
	}
	return s
}

func (s *schedules) all() []prometheus.Collector {
	return []prometheus.Collector{s.firings, s.lateness}
}

// Firing counts what became of n firings; see schedule.Runner.
func (s *schedules) Firing(o schedule.Outcome, n int, late time.Duration) {
	s.firings.WithLabelValues(string(o)).Add(float64(n))
	if o == schedule.Fired {
		s.lateness.WithLabelValues().Observe(late.Seconds())
	}
}
