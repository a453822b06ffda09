package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// cogneeCounts counts what was sent to Cognee.
type cogneeCounts struct {
	documents, runs *prometheus.CounterVec
	took            *prometheus.HistogramVec
}

func newCogneeCounts() *cogneeCounts {
	c := &cogneeCounts{
		documents: cogneeDocuments.counter(), runs: cogneeRuns.counter(), took: cogneeTime.histogram(),
	}
	for _, result := range []string{
		store.CogneeSent, store.CogneeForgotten, store.CogneeRefused, store.CogneeFailed, store.CogneeRetry,
	} {
		c.documents.WithLabelValues(result)
	}
	for _, result := range []string{store.CognifyAsked, store.CognifyDone, store.CognifyFailed} {
		c.runs.WithLabelValues(result)
	}
	return c
}

func (c *cogneeCounts) all() []prometheus.Collector {
	return []prometheus.Collector{c.documents, c.runs, c.took}
}

// Cognee counts an attempt; see cognee.Config.
func (c *cogneeCounts) Cognee(o cognee.Observation) {
	switch o.Outcome {
	case store.CogneeSent, store.CogneeForgotten:
		c.took.WithLabelValues().Observe(o.Took.Seconds())
		c.documents.WithLabelValues(o.Outcome).Inc()
	case store.CogneeRefused, store.CogneeFailed, store.CogneeRetry:
		c.documents.WithLabelValues(o.Outcome).Inc()
	}
	if o.Cognify != "" {
		c.runs.WithLabelValues(o.Cognify).Inc()
	}
}

// WatchCognee adds the outbox for Cognee.
func (m *Metrics) WatchCognee(s store.Cognee) {
	m.samples.add(&sample{
		of: "cognee", what: cogneeBacklog,
		ask: func(ctx context.Context) ([]prometheus.Metric, bool, error) {
			got, err := s.CogneeState(ctx)
			if err != nil {
				return nil, false, err
			}
			down := 0.0
			if got.DownSince != nil {
				down = 1
			}
			return []prometheus.Metric{
				cogneeBacklog.now(float64(got.Pending), "pending"), cogneeBacklog.now(float64(got.Refused), "refused"),
				cogneeBacklog.now(float64(got.Failed), "failed"), cogneeOldest.now(got.Oldest.Seconds()), cogneeDown.now(down),
			}, got.Pending > 0, nil
		},
	})
}
