package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// The engine's observations of some jobs are counted.
func TestJobs(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.Accepted(task.Ingest, 3*time.Second)
	m.Started(task.Ingest, 1)
	m.StageTook(task.Ingest, "parsing", 2*time.Second)
	m.Ended(task.Ingest, engine.Ending{
		Outcome: engine.Retried, Class: taskerr.AIRateLimit, Attempt: 1, Took: 2 * time.Second,
	})
	m.Started(task.Ingest, 2)
	m.StageTook(task.Ingest, "parsing", 2*time.Second)
	m.Ended(task.Ingest, engine.Ending{
		Outcome: string(job.Succeeded), Attempt: 2, Took: 5 * time.Second, JobTook: 69 * time.Second, Warnings: 2,
	})
	m.Accepted(task.OCR, time.Second)
	m.Started(task.OCR, 1)
	m.Ended(task.OCR, engine.Ending{Outcome: string(job.Failed), Class: taskerr.CorruptionDetected, Attempt: 1})
	m.Finished(task.Ingest, engine.Ending{Outcome: string(job.Canceled)})
	m.Started(task.OCR, 1) // runs, again after a release
	got := scrape(t, m)
	expect(t, got, 1, "job_enqueue_total", "job_type", "ingest", "client_id", "acme")
	expect(t, got, 2, "job_start_total", "job_type", "ingest")
	expect(t, got, 1, "async_worker_attempt_duration_seconds", "job_type", "ingest", "outcome", "retry")
	expect(t, got, 1, "async_worker_attempt_duration_seconds", "job_type", "ingest", "outcome", "succeeded")
	expect(t, got, 1, "job_duration_seconds", "job_type", "ingest", "outcome", "succeeded")
	// no series of a retry, nor of what never started
	if all := got["job_duration_seconds"].GetMetric(); len(all) != 2 {
		t.Errorf("%d series of finished jobs: %v", len(all), all)
	}
	for _, of := range got["job_duration_seconds"].GetMetric() {
		if sum := of.GetHistogram().GetSampleSum(); sum != 69 && sum != 0 {
			t.Errorf("a job took %v s, want 69 from its first start to its end, 5 of them in the last attempt", sum)
		}
	}
	expect(t, got, 2, "job_attempts", "job_type", "ingest")
	expect(t, got, 0, "job_in_progress", "job_type", "ingest")
	expect(t, got, 1, "job_in_progress", "job_type", "ocr")
	expect(t, got, 1, "job_retry_total", "job_type", "ingest", "error_class", "ai_rate_limit")
	expect(t, got, 1, "job_failure_total", "job_type", "ocr", "error_class", "corruption_detected")
	expect(t, got, 1, "job_canceled_total", "job_type", "ingest")
	expect(t, got, 1, "async_worker_job_warning_total", "job_type", "ingest")
	expect(t, got, 2, "job_stage_time_seconds", "job_type", "ingest", "stage", "parsing")
	expect(t, got, 1, "async_worker_job_wait_seconds", "job_type", "ingest") // a retry's wait is not a wait in the queue
	expect(t, got, 1, "async_worker_job_wait_seconds", "job_type", "ocr")
	expect(t, got, 1, "async_worker_build_info", "version", "1.2.3", "commit", "abc")
}

// A registered task type has its own label without an entry in a list of this package.
func TestRegisteredTypes(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{
		ClientID: "acme", Types: []task.Type{"translate"}, Log: slog.New(slog.DiscardHandler),
	})
	m.Watch(metrics.State{
		Health: func() engine.Health {
			return engine.Health{Types: []engine.TypeHealth{{Type: "translate", Limit: 3}}}
		},
		Checks: func() map[string]bool { return nil },
		Alive:  func() bool { return true },
	})
	m.Accepted("translate", 0)
	got := scrape(t, m)
	expect(t, got, 1, "job_enqueue_total", "job_type", "translate")
	expect(t, got, 3, "async_worker_type_limit", "job_type", "translate")
}

// Whatever task types senders use, the number of series is bounded.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	m := fresh()
	before := len(scrape(t, m)["job_failure_total"].GetMetric())
	for i := range 1000 {
		odd := task.Type(fmt.Sprintf("type-%d", i))
		m.Accepted(odd, 0)
		m.Finished(odd, engine.Ending{Outcome: string(job.Failed), Class: taskerr.Class(fmt.Sprint("class-", i))})
	}
	got := scrape(t, m)
	expect(t, got, 1000, "job_enqueue_total", "job_type", "other")
	expect(t, got, 1000, "job_failure_total", "job_type", "other", "error_class", "other")
	if n := len(got["job_failure_total"].GetMetric()); n != before+1 {
		t.Errorf("%d series, %d before", n, before)
	}
}

// What alerts at its first time has a value before: to Prometheus an increase from none to 1 is none.
func TestAlertsSeeTheFirst(t *testing.T) {
	t.Parallel()
	got := scrape(t, fresh())
	for _, of := range []task.Type{task.Ingest, task.XML} {
		for class := range taskerr.Classes {
			expect(t, got, 0, "job_failure_total", "job_type", string(of), "error_class", string(class))
		}
		expect(t, got, 0, "job_attempts", "job_type", string(of))
	}
	for _, lease := range []string{"message", "job"} {
		expect(t, got, 0, "async_worker_lease_renewals_total", "lease", lease, "result", "lost")
	}
	for _, result := range []string{"missed", "stopped"} {
		expect(t, got, 0, "async_worker_schedule_firings_total", "result", result)
	}
	for _, result := range []string{"failed", "refused"} {
		expect(t, got, 0, "async_worker_webhook_attempts_total", "result", result)
	}
}

// Every series is in the table or from the Go client, has the tenant's label, and no labels but the table's.
func TestTable(t *testing.T) {
	t.Parallel()
	known := map[string][]string{}
	for _, d := range metrics.Definitions() {
		known[d.Name] = append(slices.Clone(d.Labels), "client_id")
		if known[d.Name] == nil || strings.HasSuffix(d.Help, ".") || d.Help == "" {
			t.Errorf("%s: %q", d.Name, d.Help)
		}
	}
	seen := 0
	for name, family := range scrape(t, full(t)) {
		labels, ours := known[name]
		if !ours && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is not in the table", name)
		}
		if ours {
			seen++
		}
		for _, one := range family.GetMetric() {
			tenant := false
			for _, l := range one.GetLabel() {
				tenant = tenant || l.GetName() == "client_id" && l.GetValue() == "acme"
				if ours && !slices.Contains(labels, l.GetName()) {
					t.Errorf("%s has the label %s", name, l.GetName())
				}
			}
			if !tenant {
				t.Errorf("%s has no client_id", name)
			}
		}
	}
	if seen != len(known) {
		t.Errorf("%d of %d metrics of the table are exported", seen, len(known))
	}
}

// full returns metrics with a value for every definition.
func full(t *testing.T) *metrics.Metrics {
	t.Helper()
	m := fresh()
	m.Watch(metrics.State{
		Health: func() engine.Health {
			return engine.Health{
				Slots: 4, Running: 1, Types: []engine.TypeHealth{
					{Type: task.Ingest, Limit: 2}, {Type: "odd", Limit: 2},
				},
				Dependencies: []engine.DependencyHealth{{Name: taskerr.Model, State: "open"}},
			}
		},
		Checks: func() map[string]bool { return map[string]bool{"store": false, "settings": true} },
		Alive:  func() bool { return true },
	})
	m.WatchQueues(tenantQueues(t))
	m.WatchOutbox(outbox{Pending: 3, Due: 1, Oldest: time.Minute})
	m.WatchPublisher(publisher{state: store.PublisherState{Behind: 7, Oldest: time.Minute}})
	m.Events(events.Observation{Published: 3, Refused: 1, Failed: 1})
	m.EventsLost(2)
	m.WatchCognee(outboxForCognee{})
	m.Cognee(cognee.Observation{Outcome: store.CogneeSent, Took: time.Second})
	m.Cognee(cognee.Observation{Outcome: store.CogneeRefused})
	m.Cognee(cognee.Observation{Cognify: store.CognifyDone})
	for _, e := range []engine.Ending{
		{Outcome: engine.Retried, Class: taskerr.Timeout, Attempt: 1},
		{Outcome: "failed", Class: taskerr.Timeout, Attempt: 1},
		{Outcome: "canceled"},
		{Outcome: "succeeded", Warnings: 1},
	} {
		m.Accepted(task.Ingest, 0)
		m.Started(task.Ingest, 1)
		m.Ended(task.Ingest, e)
	}
	m.StageTook(task.Ingest, "parsing", 0)
	m.Renewed("job", "ok")
	m.Polled("acme-tasks", 1, 1, nil)
	m.QueueRequest("receive", "ok")
	m.Webhook(webhook.Observation{Status: store.DeliveryPending, ResponseStatus: 500})
	return m
}

type outbox store.Outbox

func (o outbox) Outbox(context.Context) (store.Outbox, error) { return store.Outbox(o), nil }

type publisher struct {
	store.Publishing
	state store.PublisherState
}

func (p publisher) PublisherState(context.Context) (store.PublisherState, error) { return p.state, nil }

// outboxForCognee is one in which documents wait.
type outboxForCognee struct{ store.Cognee }

func (outboxForCognee) CogneeState(context.Context) (store.CogneeState, error) {
	return store.CogneeState{Enabled: true, Pending: 4, Oldest: time.Minute, Refused: 1, DownSince: new(time.Now())}, nil
}

func TestState(t *testing.T) {
	t.Parallel()
	got := scrape(t, full(t))
	expect(t, got, 4, "async_worker_slots")
	expect(t, got, 1, "async_worker_slots_in_use")
	expect(t, got, 2, "async_worker_type_limit", "job_type", "ingest")
	expect(t, got, 1, "async_worker_breaker_state", "dependency", "model", "state", "open")
	expect(t, got, 0, "async_worker_breaker_state", "dependency", "model", "state", "closed")
	expect(t, got, 0, "async_worker_check", "check", "store")
	expect(t, got, 0, "async_worker_ready")
	expect(t, got, 1, "async_worker_alive")
	expect(t, got, 1, "async_worker_webhook_outbox", "state", "due")
	expect(t, got, 2, "async_worker_webhook_outbox", "state", "scheduled")
	expect(t, got, 60, "async_worker_webhook_oldest_age_seconds")
	expect(t, got, 1, "async_worker_webhook_attempts_total", "result", "retry")
	expect(t, got, 7, "async_worker_events_behind")
	expect(t, got, 60, "async_worker_events_lag_seconds")
	expect(t, got, 3, "async_worker_events_total", "result", "published")
	expect(t, got, 1, "async_worker_events_total", "result", "refused")
	expect(t, got, 2, "async_worker_events_total", "result", "lost")
	expect(t, got, 1, "async_worker_events_failures_total")
}

type billing struct {
	llm.Embedder
	err error
}

func (b billing) Embed(context.Context, []string) (llm.Embeddings, error) {
	return llm.Embeddings{Tokens: 7}, b.err
}

type talking struct {
	llm.Chat
	err error
}

func (c talking) Ask(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{PromptTokens: 11, CompletionTokens: 2}, c.err
}

// Tokens of a request that failed in part count, too: they are billed.
func TestModels(t *testing.T) {
	t.Parallel()
	m := fresh()
	expect(t, scrape(t, m), 0, "async_worker_embedding_tokens_total")
	for _, err := range []error{nil, errors.New("half of it failed")} {
		if _, got := m.Embedder(billing{err: err}).Embed(t.Context(), nil); !errors.Is(got, err) {
			t.Error(got)
		}
	}
	if _, err := m.Chat(talking{}).Ask(t.Context(), llm.Question{}); err != nil {
		t.Error(err)
	}
	m.Ingested(3, 4)
	got := scrape(t, m)
	expect(t, got, 11, "async_worker_chat_tokens_total", "kind", "prompt")
	expect(t, got, 2, "async_worker_chat_tokens_total", "kind", "completion")
	expect(t, got, 14, "async_worker_embedding_tokens_total")
	expect(t, got, 3, "async_worker_chunks_total", "result", "embedded")
	expect(t, got, 4, "async_worker_chunks_total", "result", "reused")
}
