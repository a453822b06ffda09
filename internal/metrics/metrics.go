// Package metrics exports a worker's metrics to Prometheus. Events are counted where they happen, without I/O; state is
// read at a scrape; values that need a request to a service are sampled seldom, and only while somebody scrapes.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Options qualify New.
type Options struct {
	ClientID string      // the constant label client_id of every series
	Types    []task.Type // that the worker runs; those of the contract always have a label, any other is "other"
	Version  string
	Commit   string // may be empty
	Log      *slog.Logger
}

// Metrics are the metrics of one worker. The methods that count are safe for concurrent use and don't block.
type Metrics struct {
	*jobs
	*services
	*lifecycle
	*schedules
	*cogneeCounts

	registry *prometheus.Registry
	register prometheus.Registerer
	samples  *samples
	log      *slog.Logger
}

// New returns metrics without counts.
func New(o Options) *Metrics {
	m := &Metrics{
		jobs: newJobs(o.Types), services: newServices(), lifecycle: newLifecycle(), schedules: newSchedules(),
		cogneeCounts: newCogneeCounts(), registry: prometheus.NewRegistry(),
		samples: newSamples(), log: o.Log,
	}
	m.register = prometheus.WrapRegistererWith(prometheus.Labels{"client_id": o.ClientID}, m.registry)
	info := buildInfo.gauge()
	info.WithLabelValues(o.Version, o.Commit, runtime.Version()).Set(1)
	m.register.MustRegister(info, m.samples, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.register.MustRegister(m.jobs.all()...)
	m.register.MustRegister(m.services.all()...)
	m.register.MustRegister(m.lifecycle.all()...)
	m.register.MustRegister(m.schedules.all()...)
	m.register.MustRegister(m.cogneeCounts.all()...)
	return m
}

// Watch adds state that is read at each scrape. It is called once.
func (m *Metrics) Watch(s State) {
	s.types = m.jobs.types
	m.register.MustRegister(s)
}

const (
	scrapeLimit = 10 * time.Second // Prometheus' own default
	maxScrapes  = 4                // at a time
	sampleLimit = 4 * time.Second  // for a scrape's requests to services
)

// Handler serves scrapes, in the format that the scraper prefers.
func (m *Metrics) Handler() http.Handler {
	scrape := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes, Timeout: scrapeLimit, EnableOpenMetrics: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.samples.refresh(r.Context())
		scrape.ServeHTTP(w, r)
	})
}
