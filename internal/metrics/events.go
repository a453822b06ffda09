package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// lifecycle counts published events.
type lifecycle struct{ published, failures *prometheus.CounterVec }

func newLifecycle() *lifecycle {
	l := &lifecycle{published: published.counter(), failures: publishFailures.counter()}
	for _, result := range []string{"published", "refused", "reduced", "lost"} {
		l.published.WithLabelValues(result)
	}
	l.failures.WithLabelValues()
	return l
}

func (l *lifecycle) all() []prometheus.Collector {
	return []prometheus.Collector{l.published, l.failures}
}

// Events counts what the publisher did; see events.Config.
func (l *lifecycle) Events(o events.Observation) {
	l.published.WithLabelValues("published").Add(float64(o.Published))
	l.published.WithLabelValues("refused").Add(float64(o.Refused))
	l.published.WithLabelValues("reduced").Add(float64(o.Reduced))
	l.failures.WithLabelValues().Add(float64(o.Failed))
}

// EventsLost counts events that were removed before they were published.
func (l *lifecycle) EventsLost(n int) { l.published.WithLabelValues("lost").Add(float64(n)) }

// WatchPublisher adds how far the publisher is behind.
func (m *Metrics) WatchPublisher(p store.Publishing) {
	m.samples.add(&sample{
		of: "events", what: eventsBehind,
		ask: func(ctx context.Context) ([]prometheus.Metric, bool, error) {
			s, err := p.PublisherState(ctx)
			if err != nil {
				return nil, false, err
			}
			return []prometheus.Metric{
				eventsBehind.now(float64(s.Behind)), eventsLag.now(s.Oldest.Seconds()),
			}, s.Behind > 0, nil
		},
	})
}
