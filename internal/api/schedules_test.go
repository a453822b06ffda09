package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestSchedules: a schedule is added, listed with its next firings, changed, paused and removed; a bad one is refused
// with what is wrong with it.
func TestSchedules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const task = `{"task_type":"ingest","payload":{"filename":"a.pdf","document_set":"s"}}`
	r := b.want(b.ask("POST", "/v1/schedules", `{"id":"nightly","cron":"30 2 * * *","timeZone":"Europe/Berlin","task":`+
		task+`,"catchUp":2,"jitterSeconds":1.5}`), http.StatusCreated, "")
	var s api.Schedule
	if err := json.Unmarshal([]byte(r.text), &s); err != nil {
		t.Fatal(err)
	}
	if r.header.Get("Location") != "/v1/schedules/nightly" || s.Overlap != "skip" || s.CatchUp != 2 || s.Jitter != 1.5 ||
		s.NextAt == nil || len(s.Upcoming) != 5 || !s.Upcoming[0].Equal(*s.NextAt) {
		t.Errorf("added %s", r.text)
	}
	b.want(b.ask("POST", "/v1/schedules", `{"id":"nightly","cron":"@daily","task":`+task+`}`), http.StatusConflict,
		"SCHEDULE_EXISTS")
	// As a job of the API is written.
	b.want(b.ask("POST", "/v1/schedules", `{"id":"other","cron":"@hourly","task":{"type":"ingest",
		"payload":{"filename":"a.pdf","document_set":"s"},"webhookUrl":"https://example.org/"}}`), http.StatusCreated, "")
	for body, problem := range map[string]string{
		`{"cron":"0 0 31 2 *","task":` + task + `}`:                                                         "never fires",
		`{"cron":"@daily","timeZone":"Nowhere","task":` + task + `}`:                                        "time_zone",
		`{"cron":"@daily","task":{"task_type":"ingest","payload":{}}}`:                                      "filename",
		`{"cron":"@daily","task":{"task_type":"nothing","payload":{}}}`:                                     "type",
		`{"cron":"@daily","task":{"task_id":"mine","task_type":"ingest","payload":{}}}`:                     "task_id",
		`{"cron":"@daily","task":{"task_type":"ingest","payload":{},"client_id":"another-one"}}`:            "client",
		`{"cron":"@daily","task":{"type":"ingest","payload":{},"id":"mine"}}`:                               "task_id: the firing decides it",
		`{"cron":"@daily","task":{"type":"ingest","payload":{},"runAt":"2030-01-01T00:00:00Z"}}`:            "run_at: the firing decides it",
		`{"cron":"@daily","task":{"type":"ingest","payload":{"filename":"a.pdf","documentSet":"s"}}}`:       "payload.documentSet is called document_set",
		`{"cron":"@daily","task":` + strings.Replace(task, "{", `{"colour":1,`, 1) + `}`:                    "colour is not known",
		`{"cron":"@daily","task":` + strings.Replace(task, "{", `{"hints":{"zeal":1},`, 1) + `}`:            "hints.zeal is not known",
		`{"cron":"@daily","task":` + strings.Replace(task, "{", `{"hints":{"timeoutSeconds":-1},`, 1) + `}`: "hints.timeout_seconds",
		`{"cron":"@daily","task":[]}`:                        "object",
		`{"cron":"@daily","task":` + task + `,"catchUp":-1}`: "",
	} {
		r := b.want(b.ask("POST", "/v1/schedules", body), http.StatusBadRequest, "VALIDATION_ERROR")
		if !contains(r.text, problem) {
			t.Errorf("%s: answered %s, want %q", body, r.text, problem)
		}
	}
	if r := b.ask("GET", "/v1/schedules?limit=1", ""); r.field("nextCursor") == "" {
		t.Errorf("list: %+v", r)
	}
	if r := b.want(b.ask("PATCH", "/v1/schedules/nightly", `{"paused":true,"catchUp":0}`), http.StatusOK, ""); !contains(
		r.text, `"paused":true`, `"upcoming":[]`, `"catchUp":0`, `"timeZone":"Europe/Berlin"`) {
		t.Errorf("paused: %s", r.text)
	}
	b.want(b.ask("PATCH", "/v1/schedules/nightly", `{"cron":"99 * * * *"}`), http.StatusBadRequest, "VALIDATION_ERROR")
	b.want(b.ask("PATCH", "/v1/schedules/none", `{"paused":true}`), http.StatusNotFound, "NOT_FOUND")
	b.want(b.ask("DELETE", "/v1/schedules/nightly", ""), http.StatusNoContent, "")
	b.want(b.ask("GET", "/v1/schedules/nightly", ""), http.StatusNotFound, "NOT_FOUND")
}

// TestScheduleAsAJob: the task of a schedule may be written as a job of the API is; a schedule of before, whose task would
// be refused today, can still be paused.
func TestScheduleAsAJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.want(b.ask("POST", "/v1/schedules", `{"id":"a","cron":"@daily","task":{"type":"ocr","payload":{"filename":"a.pdf"},
		"webhookUrl":"https://example.org/","hints":{"timeoutSeconds":60,"maxWaitSeconds":90,"outputFormat":"text"}}}`),
		http.StatusCreated, "")
	var s api.Schedule
	if err := json.Unmarshal([]byte(r.text), &s); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type    string         `json:"task_type"`
		Webhook string         `json:"webhook_url"`
		Hints   map[string]any `json:"hints"`
	}
	if err := json.Unmarshal(s.Task, &got); err != nil || got.Type != "ocr" || got.Webhook != "https://example.org/" ||
		!maps.Equal(got.Hints, map[string]any{"timeout_seconds": 60.0, "max_wait_seconds": 90.0, "output_format": "text"}) {
		t.Errorf("its task is %s, %v", s.Task, err)
	}
	if _, err := b.store.ChangeSchedule(t.Context(), store.ScheduleChange{
		ID: "a", Seen: s.UpdatedAt, Task: json.RawMessage(`{"task_type":"ocr","payload":{"filename":"a.pdf","sourceUri":"blob:b"},"colour":1}`),
	}); err != nil {
		t.Fatal(err)
	}
	b.want(b.ask("PATCH", "/v1/schedules/a", `{"paused":true}`), http.StatusOK, "")
	b.want(b.ask("PATCH", "/v1/schedules/a", `{"task":{"type":"ocr","payload":{"filename":"a.pdf","sourceUri":"blob:b"}}}`),
		http.StatusBadRequest, "VALIDATION_ERROR")
}

// TestFiringsOfADistance: the next firings of @every begin with the first one, and the last ones are those that had jobs.
func TestFiringsOfADistance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.want(b.ask("POST", "/v1/schedules", `{"cron":"@every 90m","task":{"task_type":"ingest",
		"payload":{"filename":"a.pdf","document_set":"s"}}}`), http.StatusCreated, "")
	var s api.Schedule
	if err := json.Unmarshal([]byte(r.text), &s); err != nil {
		t.Fatal(err)
	}
	for i, at := range s.Upcoming {
		if want := s.NextAt.Add(time.Duration(i) * 90 * time.Minute); !at.Equal(want) {
			t.Errorf("firing %d is at %s, want %s", i, at, want)
		}
	}
	last := *s.NextAt
	s.LastAt, s.CreatedAt = &last, last.Add(-4*time.Hour)
	fired := api.LastFirings(s, 5)
	if len(fired) != 3 {
		t.Fatalf("%d firings: %v", len(fired), fired)
	}
	for i, f := range fired {
		if want := last.Add(time.Duration(-i) * 90 * time.Minute); !f.At.Equal(want) {
			t.Errorf("%d before the last was %s, want %s", i, f.At, want)
		}
	}
}

func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
