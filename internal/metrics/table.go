package metrics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Kind is the type of a metric.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Definition is a row of the table of metrics. Each series also has the label client_id; none has a task's id, and each
// label has few values, known beforehand.
type Definition struct {
	Name    string
	Kind    Kind
	Labels  []string
	Help    string    // one sentence without a full stop
	Buckets []float64 // of a histogram: upper bounds
}

// The labels.
const (
	byType       = "job_type" // of the contract, or registered; anything else is "other"
	byOutcome    = "outcome"  // succeeded, failed, canceled; of attempts also retry, released, lost
	byClass      = "error_class"
	byStage      = "stage"
	byQueue      = "queue" // high, normal, low, deadletter
	byOperation  = "operation"
	byResult     = "result"
	byDependency = "dependency"
	byState      = "state"
	byCheck      = "check"
	byKind       = "kind"  // prompt, completion
	byLease      = "lease" // message, job
)

// seconds returns the buckets of histograms of time: fine around the service levels (4, 6, 12, 15, 25, 30 s), and up
// to a task's longest time.
func seconds() []float64 {
	return []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 12, 15, 20, 25, 30, 60, 120, 300, 600, 1800, 3600}
}

// The metrics with names that other programs know.
var (
	enqueued = Definition{
		"job_enqueue_total", Counter,
		[]string{byType},
		"tasks that were accepted: each once, however often its message is delivered or its job tried", nil,
	}
	started  = Definition{"job_start_total", Counter, []string{byType}, "attempts that were started", nil}
	duration = Definition{
		"job_duration_seconds", Histogram,
		[]string{byType, byOutcome},
		"how long jobs took, from the start of their first attempt to their end, waits between attempts included",
		seconds(),
	}
	attempts = Definition{
		"job_attempts", Histogram,
		[]string{byType},
		"how many attempts jobs took to their end; 0: rejected, or canceled before",
		[]float64{0, 1, 2, 3, 4, 5, 10},
	}
	inProgress = Definition{"job_in_progress", Gauge, []string{byType}, "attempts that are running", nil}
	retried    = Definition{
		"job_retry_total", Counter, []string{byType, byClass}, "attempts that failed and are retried", nil,
	}
	warned = Definition{
		"async_worker_job_warning_total", Counter,
		[]string{byType},
		"jobs that succeeded with a warning in their result, such as pages that could not be read", nil,
	}
	failures = Definition{
		"job_failure_total", Counter,
		[]string{byType, byClass},
		"jobs that failed finally, rejected ones included",
		nil,
	}
	canceled  = Definition{"job_canceled_total", Counter, []string{byType}, "jobs that were canceled", nil}
	stageTime = Definition{
		"job_stage_time_seconds", Histogram, []string{byType, byStage}, "how long attempts spent in a stage", seconds(),
	}
)

// The metrics with our own names.
var (
	tried = Definition{
		"async_worker_attempt_duration_seconds", Histogram,
		[]string{byType, byOutcome},
		"how long attempts took, until their outcome was recorded", seconds(),
	}
	waited = Definition{
		"async_worker_job_wait_seconds", Histogram,
		[]string{byType},
		"how long tasks waited for their first attempt, from the sending of their message or from their `run_at`", seconds(),
	}
	received = Definition{
		"async_worker_messages_received_total", Counter, []string{byQueue}, "messages that were received", nil,
	}
	requests = Definition{
		"async_worker_queue_requests_total", Counter,
		[]string{byOperation, byResult},
		"requests to the queue service, retries included: ok, refused, throttled, or uncertain (no answer)", nil,
	}
	renewals = Definition{
		"async_worker_lease_renewals_total", Counter,
		[]string{byLease, byResult},
		"renewals of the leases of messages and jobs: ok, lost, uncertain or failed", nil,
	}
	depth = Definition{
		"async_worker_queue_depth", Gauge,
		[]string{byQueue},
		"about how many messages a queue holds, hidden ones included; sampled", nil,
	}
	oldest = Definition{
		"async_worker_queue_oldest_age_seconds", Gauge,
		[]string{byQueue},
		"the age of the message at the front of a queue, if it is not hidden; sampled", nil,
	}
	outboxSize = Definition{
		"async_worker_webhook_outbox", Gauge,
		[]string{byState},
		"webhooks not delivered yet, counted up to 10001: due, or scheduled for later; sampled", nil,
	}
	outboxOldest = Definition{
		"async_worker_webhook_oldest_age_seconds", Gauge, nil,
		"the age of the oldest webhook in the outbox; sampled", nil,
	}
	webhooks = Definition{
		"async_worker_webhook_attempts_total", Counter,
		[]string{byResult},
		"attempts to deliver a webhook: delivered, retry (to be retried), failed (given up), refused (the " +
			"address is not allowed) or missed (a webhook of a task's course, which is tried once)", nil,
	}
	webhookTime = Definition{
		"async_worker_webhook_latency_seconds", Histogram, nil, "how long receivers of webhooks took to answer",
		[]float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30},
	}
	published = Definition{
		"async_worker_events_total", Counter,
		[]string{byResult},
		"lifecycle events that were published, refused by the sink and left out, or lost: removed before they were " +
			"published (EVENTS_KEEP_DAYS); reduced ones are among the published, without their result",
		nil,
	}
	firings = Definition{
		"async_worker_schedule_firings_total", Counter,
		[]string{byResult},
		"firings of schedules: fired, skipped (the last job was not over), missed (and not made up), or stopped (the " +
			"schedule can't fire and was paused)",
		nil,
	}
	firingLateness = Definition{
		"async_worker_schedule_lateness_seconds", Histogram, nil,
		"how long after its time of the calendar a firing was submitted, jitter included",
		[]float64{0.5, 1, 2.5, 5, 10, 20, 60, 300, 3600},
	}
	publishFailures = Definition{
		"async_worker_events_failures_total", Counter, nil,
		"attempts to publish lifecycle events that failed and are repeated", nil,
	}
	eventsBehind = Definition{
		"async_worker_events_behind", Gauge, nil,
		"events that are not published yet, counted up to 10001; sampled", nil,
	}
	eventsLag = Definition{
		"async_worker_events_lag_seconds", Gauge, nil, "the age of the oldest event that is not published yet; sampled",
		nil,
	}
	cogneeDocuments = Definition{
		"async_worker_cognee_documents_total", Counter,
		[]string{byResult},
		"documents that Cognee has got (sent), has forgotten, has refused, or that were given up (failed); of those to be " +
			"sent again, each attempt (retry)",
		nil,
	}
	cogneeRuns = Definition{
		"async_worker_cognee_runs_total", Counter,
		[]string{byResult},
		"requests to work a document set into Cognee's graph: asked, done or failed", nil,
	}
	cogneeTime = Definition{
		"async_worker_cognee_request_seconds", Histogram, nil,
		"how long it took to send a document to Cognee, or to have it forgotten", seconds(),
	}
	cogneeBacklog = Definition{
		"async_worker_cognee_backlog", Gauge,
		[]string{byState},
		"documents that Cognee does not have yet (pending), and those that it refused or that were given up (refused, " +
			"failed), each counted up to 10001; sampled",
		nil,
	}
	cogneeOldest = Definition{
		"async_worker_cognee_oldest_seconds", Gauge, nil, "how long the oldest pending document waits for Cognee; sampled",
		nil,
	}
	cogneeDown = Definition{
		"async_worker_cognee_down", Gauge, nil, "1 while Cognee is down; sampled", nil,
	}
	tokens = Definition{
		"async_worker_embedding_tokens_total", Counter, nil, "tokens of embeddings, as the provider billed them", nil,
	}
	chatTokens = Definition{
		"async_worker_chat_tokens_total", Counter,
		[]string{byKind},
		"tokens of the models for chat, contexts and pages, as the provider billed them: prompt or completion", nil,
	}
	chunks = Definition{
		"async_worker_chunks_total", Counter,
		[]string{byResult},
		"chunks of ingested documents: embedded, or reused with their existing vector", nil,
	}
	gatewayCalls = Definition{
		"async_worker_gateway_requests_total", Counter,
		[]string{byResult},
		"calls of the gateway: ok (paid for), canceled, or the code of the error: GW_4XX, GW_5XX, GW_TIMEOUT or IO_ERROR", nil,
	}
	gatewayTime = Definition{
		"async_worker_gateway_seconds", Histogram, nil, "how long calls of the gateway took", seconds(),
	}
	slots = Definition{
		"async_worker_slots", Gauge, nil, "how many tasks may run at a time (WORKER_CONCURRENCY)", nil,
	}
	slotsUsed = Definition{
		"async_worker_slots_in_use", Gauge, nil, "slots in which a task runs", nil,
	}
	typeLimit = Definition{
		"async_worker_type_limit", Gauge,
		[]string{byType},
		"how many tasks of a type may run at a time: fewer than the slots while many of its attempts fail", nil,
	}
	breakers = Definition{
		"async_worker_breaker_state", Gauge,
		[]string{byDependency, byState},
		"1 for the current state of a dependency's circuit breaker: closed (it is up), half-open or open", nil,
	}
	checks = Definition{
		"async_worker_check", Gauge, []string{byCheck}, "1 while a check of /readyz passes, 0 while it fails", nil,
	}
	ready    = Definition{"async_worker_ready", Gauge, nil, "1 while /readyz answers 200", nil}
	alive    = Definition{"async_worker_alive", Gauge, nil, "1 while /livez answers 200", nil}
	draining = Definition{
		"async_worker_draining", Gauge, nil, "1 while the worker finishes its running tasks and takes no new ones", nil,
	}
	buildInfo = Definition{
		"async_worker_build_info", Gauge, []string{"version", "commit", "goversion"}, "always 1", nil,
	}
)

// Definitions returns the table, fixed names first. The Prometheus client adds the go_* and process_* metrics.
func Definitions() []Definition {
	return []Definition{
		enqueued, started, duration, attempts, inProgress, retried, failures, canceled, warned, stageTime,
		tried, waited, received, requests, renewals, depth, oldest, outboxSize, outboxOldest, webhooks, webhookTime,
		published, publishFailures, eventsBehind, eventsLag, firings, firingLateness,
		cogneeDocuments, cogneeRuns, cogneeTime, cogneeBacklog, cogneeOldest, cogneeDown,
		tokens, chatTokens, chunks, gatewayCalls, gatewayTime,
		slots, slotsUsed, typeLimit, breakers, checks, ready, alive, draining, buildInfo,
	}
}

func (d Definition) counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.help()}, d.Labels)
}

func (d Definition) gauge() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.help()}, d.Labels)
}

func (d Definition) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.help(), Buckets: d.Buckets},
		d.Labels)
}

func (d Definition) desc() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.help(), d.Labels, nil)
}

// now returns a gauge's value at a scrape.
func (d Definition) now(value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d.desc(), prometheus.GaugeValue, value, labels...)
}

func (d Definition) help() string { return strings.ToUpper(d.Help[:1]) + d.Help[1:] + "." }

// Markdown returns the table for the documents.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | what it is |\n|---|---|---|---|\n")
	for _, d := range Definitions() {
		var labels []string
		for _, l := range slices.Sorted(slices.Values(d.Labels)) {
			labels = append(labels, "`"+l+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, strings.Join(labels, ", "), d.Help)
	}
	return b.String()
}
