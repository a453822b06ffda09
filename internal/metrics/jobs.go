package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// jobs counts the fates of tasks. It is the engine's Observer.
type jobs struct {
	enqueued, started, retried, failures, canceled, warned, received, renewals *prometheus.CounterVec
	inProgress                                                                 *prometheus.GaugeVec
	duration, tried, attempts, stageTime, waited                               *prometheus.HistogramVec

	types    knownTypes
	queues   map[string]string // labels by the names of queues
	mu       sync.Mutex
	stages   map[stageOf]prometheus.Observer // cached: an attempt has about ten stages
	onArrive func(label string)              // called when a queue has had messages
}

type stageOf struct {
	task  task.Type
	stage string
}

// other is the label value of everything that is not known beforehand.
const other = "other"

func newJobs(registered []task.Type) *jobs {
	j := &jobs{
		types:    newKnownTypes(registered),
		enqueued: enqueued.counter(), started: started.counter(), retried: retried.counter(),
		failures: failures.counter(),
		canceled: canceled.counter(), warned: warned.counter(), received: received.counter(),
		renewals: renewals.counter(), inProgress: inProgress.gauge(),
		duration: duration.histogram(), tried: tried.histogram(), attempts: attempts.histogram(),
		stageTime: stageTime.histogram(), waited: waited.histogram(),
		queues: map[string]string{}, stages: map[stageOf]prometheus.Observer{}, onArrive: func(string) {},
	}
	j.createSeries()
	return j
}

// createSeries creates the series whose first increase an alert is to see: an increase from no value is none to
// Prometheus. Alerts on what goes on for half an hour see the next one.
func (j *jobs) createSeries() {
	for t := range j.types {
		for class := range taskerr.Classes {
			j.failures.WithLabelValues(string(t), string(class))
		}
		j.attempts.WithLabelValues(string(t))
	}
	for _, lease := range []string{"message", "job"} {
		j.renewals.WithLabelValues(lease, "lost")
	}
}

func (j *jobs) all() []prometheus.Collector {
	return []prometheus.Collector{
		j.enqueued, j.started, j.retried, j.failures, j.canceled, j.warned, j.received, j.renewals, j.inProgress,
		j.duration, j.tried, j.attempts, j.stageTime, j.waited,
	}
}

// knownTypes are the task types with a label of their own. Senders can use any text as a task's type: the label values
// must be few.
type knownTypes map[task.Type]bool

func newKnownTypes(registered []task.Type) knownTypes {
	known := knownTypes{}
	for t := range job.Policies { // of the contract
		known[t] = true
	}
	for _, t := range registered {
		known[t] = true
	}
	return known
}

func (k knownTypes) label(t task.Type) string {
	if k[t] {
		return string(t)
	}
	return other
}

func classLabel(c taskerr.Class) string {
	if _, known := taskerr.Classes[c]; known {
		return string(c)
	}
	return other
}

// Polled implements engine.Observer.
func (j *jobs) Polled(queue string, _, got int, _ error) {
	label := j.queueLabel(queue)
	j.received.WithLabelValues(label).Add(float64(got))
	if got > 0 {
		j.onArrive(label)
	}
}

func (j *jobs) queueLabel(name string) string {
	if label, ok := j.queues[name]; ok {
		return label
	}
	return other
}

// Accepted implements engine.Observer.
func (j *jobs) Accepted(t task.Type, wait time.Duration) {
	label := j.types.label(t)
	j.enqueued.WithLabelValues(label).Inc()
	j.waited.WithLabelValues(label).Observe(wait.Seconds())
}

// Started implements engine.Observer.
func (j *jobs) Started(t task.Type, _ int) {
	label := j.types.label(t)
	j.started.WithLabelValues(label).Inc()
	j.inProgress.WithLabelValues(label).Inc()
}

// Ended implements engine.Observer.
func (j *jobs) Ended(t task.Type, e engine.Ending) {
	label := j.types.label(t)
	j.inProgress.WithLabelValues(label).Dec()
	j.tried.WithLabelValues(label, e.Outcome).Observe(e.Took.Seconds())
	if e.Outcome == engine.Retried {
		j.retried.WithLabelValues(label, classLabel(e.Class)).Inc()
	}
	j.over(label, e)
}

// Finished implements engine.Observer.
func (j *jobs) Finished(t task.Type, e engine.Ending) { j.over(j.types.label(t), e) }

// over counts the end of a job, if the attempt ended it.
func (j *jobs) over(label string, e engine.Ending) {
	switch job.State(e.Outcome) {
	case job.Succeeded:
		if e.Warnings > 0 {
			j.warned.WithLabelValues(label).Inc()
		}
	case job.Failed:
		j.failures.WithLabelValues(label, classLabel(e.Class)).Inc()
	case job.Canceled:
		j.canceled.WithLabelValues(label).Inc()
	default:
		return
	}
	j.attempts.WithLabelValues(label).Observe(float64(e.Attempt))
	if e.Attempt > 0 || e.JobTook > 0 { // it was started
		j.duration.WithLabelValues(label, e.Outcome).Observe(e.JobTook.Seconds())
	}
}

// StageTook implements engine.Observer.
func (j *jobs) StageTook(t task.Type, stage string, took time.Duration) {
	j.mu.Lock()
	key := stageOf{t, stage}
	to, ok := j.stages[key]
	if !ok {
		to = j.stageTime.WithLabelValues(j.types.label(t), stage) // stages come from a handler's Spec
		j.stages[key] = to
	}
	j.mu.Unlock()
	to.Observe(took.Seconds())
}

// Renewed implements engine.Observer.
func (j *jobs) Renewed(lease, result string) { j.renewals.WithLabelValues(lease, result).Inc() }
