package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// processed is a row of processing_jobs; of the times, whether they are there.
type processed struct {
	Status, Result, Path, Code, Message, Leased string
	Retries                                     int
	Most                                        *int
	Lease, Started, Completed, Failed           bool
	Attempted                                   *time.Time
}

func processedOf(t *testing.T, conn *pgx.Conn, id string) (p processed) {
	t.Helper()
	must(t, conn.QueryRow(t.Context(), `select status, coalesce(result ->> 'pages', ''), coalesce(result_path, ''),
			coalesce(error_code, ''), coalesce(error_message, ''), coalesce(leased_by, ''), retry_count, max_retries,
			lease_expires_at is not null, started_at is not null, completed_at is not null, failed_at is not null, last_attempt_at
		from processing_jobs where id = $1`, id).Scan(&p.Status, &p.Result, &p.Path, &p.Code, &p.Message, &p.Leased, &p.Retries,
		&p.Most, &p.Lease, &p.Started, &p.Completed, &p.Failed, &p.Attempted))
	return p
}

// TestProcessingJobsColumns: what each column shows of a job that waits, runs, has failed and is done. The last attempt's
// time stays when the events are removed.
func TestProcessingJobsColumns(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "acme"})
	must(t, err)
	defer s.Close()
	begun := func(id string) store.Holder {
		answer, err := s.Begin(t.Context(), store.Begin{
			Task:   message.Record(task.Task{ID: id, Type: task.OCR, Payload: json.RawMessage(`{"filename": "a.pdf"}`)}, 4),
			Worker: "w1", Lease: time.Hour,
		})
		must(t, err)
		return store.Holder{JobID: id, Fence: answer.Fence}
	}
	for _, id := range []string{"pending", "canceled", "running", "failed", "completed"} {
		enqueue(t, conn, `{"task_id": "`+id+`", "task_type": "ocr", "payload": {"filename": "a.pdf"}}`)
	}
	_, err = s.RequestCancel(t.Context(), "canceled", "anna")
	must(t, err)
	begun("running")
	broken := store.ErrorInfo{Type: "IOError", Class: "transient_storage", Code: "IO_ERROR", Message: "broken", Retryable: true}
	h := begun("failed")
	_, err = s.Retry(t.Context(), store.Retry{Holder: h, Error: broken})
	must(t, err)
	_, err = s.Fail(t.Context(), store.Failure{Holder: begun("failed"), Error: broken, Reason: "permanent", Original: "{}"})
	must(t, err)
	_, err = s.Complete(t.Context(), store.Completion{
		Holder: begun("completed"), Result: json.RawMessage(`{"pages": 3, "derived_blob": "derived/a.md"}`),
	})
	must(t, err)

	super := connect(t, url)
	for id, want := range map[string]processed{
		"pending":   {Status: "pending"}, // a worker sets max_retries, by the policy of the type
		"canceled":  {Status: "canceled"},
		"running":   {Status: "processing", Leased: "w1", Most: new(3), Lease: true, Started: true},
		"failed":    {Status: "failed", Code: "IO_ERROR", Message: "broken", Retries: 1, Most: new(3), Started: true, Failed: true},
		"completed": {Status: "completed", Result: "3", Path: "derived/a.md", Most: new(3), Started: true, Completed: true},
	} {
		for _, by := range []*pgx.Conn{conn, super} {
			got := processedOf(t, by, id)
			if (got.Attempted != nil) != want.Started {
				t.Errorf("%s: the last attempt was at %v", id, got.Attempted)
			}
			if got.Attempted = nil; plain(t, got) != plain(t, want) {
				t.Errorf("%s is\n%s, want\n%s", id, plain(t, got), plain(t, want))
			}
		}
	}

	_, err = super.Exec(t.Context(), `delete from job_events;
		update jobs set completed_at = started_at + interval '1 minute', processing_time_ms = case id when 'failed' then 5000 end
		where id in ('failed', 'completed')`)
	must(t, err)
	for id, want := range map[string]string{"pending": "", "canceled": "", "failed": "00:00:55", "completed": "00:00:00"} {
		for _, by := range []*pgx.Conn{conn, super} {
			var got string
			must(t, by.QueryRow(t.Context(),
				"select coalesce((last_attempt_at - started_at)::text, '') from processing_jobs where id = $1", id).Scan(&got))
			if got != want {
				t.Errorf("%s: without its events the last attempt was %q after the first, want %q", id, got, want)
			}
		}
	}
}

func plain(t *testing.T, p processed) string {
	t.Helper()
	text, err := json.Marshal(p)
	must(t, err)
	return string(text)
}
