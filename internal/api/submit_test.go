package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A job is accepted, its message sent, and its row bears what was asked for.
func TestSubmit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.want(b.ask("POST", "/v1/jobs", `{"type":"ingest","payload":{"filename":"a.pdf","document_set":"s","n":1.50},
		"priority":"normal","hints":{"force":false,"timeoutSeconds":60,"resolution":300,"outputFormat":"text"},
		"webhookUrl":"https://example.org/hook?x=1","id":"job-1"}`), http.StatusCreated, "")
	var j api.Job
	if err := json.Unmarshal([]byte(r.text), &j); err != nil {
		t.Fatal(err)
	}
	if j.ID != "job-1" || j.Status != "pending" || j.Type != "ingest" || j.RequestedBy != "operateer" || j.Progress != 0 ||
		j.MaxAttempts != 3 || string(j.Metadata) != "{}" || j.CreatedAt.IsZero() ||
		r.header.Get("Location") != "/v1/jobs/job-1" || r.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("answered %s with %v", r.text, r.header)
	}
	sent := b.queue.messages()
	if len(sent) != 1 {
		t.Fatalf("%d messages were sent", len(sent))
	}
	d, err := task.Decode(sent[0], task.Options{ClientID: tenant})
	if err != nil || d.Task.ID != "job-1" || string(d.Task.Payload) != `{"filename":"a.pdf","document_set":"s","n":1.50}` ||
		d.Task.Hints.Timeout != time.Minute || d.Task.Hints.Resolution != 300 || d.Task.Hints.OutputFormat != "text" ||
		d.Task.WebhookURL != "https://example.org/hook?x=1" || d.Task.RequestedBy != "operateer" {
		t.Errorf("sent %s, %v", sent[0], err)
	}
	if found, err := b.store.Sweep(t.Context(), store.SweepAges{}, 10); err != nil || len(found.Unsent) > 0 {
		t.Errorf("a sweep would send it again: %+v, %v", found, err)
	}
	if got := b.ask("GET", "/v1/jobs/job-1", ""); got.status != http.StatusOK || got.field("id") != "job-1" {
		t.Errorf("get: %+v", got)
	}
	if !strings.Contains(b.log.String(), "submitted a job") || !strings.Contains(b.log.String(), "by=operateer") {
		t.Errorf("no audit in %s", b.log.String())
	}
}

// The same request again is the same job; another one with its key is refused.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	request, key := newFile(), "k 1"
	first := b.want(b.ask("POST", "/v1/jobs", request, "Idempotency-Key", key), http.StatusCreated, "")
	b.begun(first.field("id"))
	spaced := strings.ReplaceAll(request, ",", " ,\n ")
	for _, k := range []string{key, `"k 1"`} {
		again := b.want(b.ask("POST", "/v1/jobs", spaced, "Idempotency-Key", k), http.StatusOK, "")
		if again.text != first.text || again.header.Get("Idempotent-Replayed") != "true" ||
			again.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("again: %s with %v; first: %s", again.text, again.header, first.text)
		}
	}
	b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", key), http.StatusConflict, "IDEMPOTENCY_CONFLICT")
	// Keys are each caller's own.
	other := b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", key, "Authorization", "Bearer "+b.tokens["submit"])
	b.want(other, http.StatusCreated, "")
	// An id is a key, too.
	withID := strings.Replace(newFile(), "{", `{"id":"mine",`, 1)
	b.want(b.ask("POST", "/v1/jobs", withID), http.StatusCreated, "")
	b.want(b.ask("POST", "/v1/jobs", withID), http.StatusOK, "")
	b.want(b.ask("POST", "/v1/jobs", strings.Replace(newFile(), "{", `{"id":"mine",`, 1)), http.StatusConflict,
		"IDEMPOTENCY_CONFLICT")
	if n := len(b.queue.messages()); n != 3 {
		t.Errorf("%d messages for 3 jobs", n)
	}
	for _, bad := range []string{`"open`, strings.Repeat("x", 256), `"` + strings.Repeat("x", 256) + `"`, `""`, "tab\tin"} {
		b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", bad), http.StatusBadRequest, "VALIDATION_ERROR")
	}
	for _, good := range []string{strings.Repeat("x", 255), `"` + strings.Repeat("y", 255) + `"`} {
		b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", good), http.StatusCreated, "")
	}
}

// A job that has ended is done again by hints.force, once for each key: its message is sent again.
func TestSubmitForced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	request := strings.Replace(newFile(), "{", `{"id":"mine",`, 1)
	forced := strings.Replace(request, "{", `{"hints":{"force":true},`, 1)
	b.complete(b.begun(b.submitted(request)))
	r := b.want(b.ask("POST", "/v1/jobs", request), http.StatusOK, "")
	if n := len(b.queue.messages()); n != 1 || r.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("without force: %d messages, %v", n, r.header)
	}
	for i, want := range []string{"", "true"} {
		r := b.want(b.ask("POST", "/v1/jobs", forced, "Idempotency-Key", "k"), http.StatusOK, "")
		sent := b.queue.messages()
		if r.field("status") != "succeeded" || r.header.Get("Idempotent-Replayed") != want ||
			r.header.Get("Location") != "/v1/jobs/mine" || len(sent) != 2 {
			t.Fatalf("request %d: %s with %v, %d messages", i+1, r.text, r.header, len(sent))
		}
		if d, err := task.Decode(sent[1], task.Options{ClientID: tenant}); err != nil || !d.Task.Hints.Force || d.Task.ID != "mine" {
			t.Errorf("sent %s, %v", sent[1], err)
		}
	}
}

// Fifty callers with one key at once make one job, which one of them is told is new.
func TestIdempotencyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	request := newFile()
	replies := make([]reply, 50)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = b.ask("POST", "/v1/jobs", request, "Idempotency-Key", "k") })
	}
	all.Wait()
	created := 0
	for _, r := range replies {
		if r.status == http.StatusCreated {
			created++
		} else if r.status != http.StatusOK || r.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %s", r.status, r.text)
		}
		if r.text != replies[0].text {
			t.Errorf("bodies differ: %s and %s", r.text, replies[0].text)
		}
	}
	if created != 1 || len(b.queue.messages()) != 1 {
		t.Errorf("%d were created, %d messages sent", created, len(b.queue.messages()))
	}
}

// What is wrong is named, with its field; no value of the request is repeated.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const secret = "personal-value"
	for body, field := range map[string]string{
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"colour":"` + secret + `"}`:         "body.colour",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"hints":{"zeal":"` + secret + `"}}`: "body.hints.zeal",
		`{"type":"` + secret + `","payload":{}}`:                                                            "body.type",
		`{"type":"summarize","payload":{}}`:                                                                 "body.payload",
		`{"type":"ingest","payload":"` + secret + `"}`:                                                      "body.payload",
		`{"type":"ingest","payload":{"document_set":"s"}}`:                                                  "body.payload.filename",
		`{"type":"ingest","payload":{"filename":"a","documentSet":"s"}}`:                                    "body.payload.documentSet",
		`{"type":"ocr","payload":{"sourceURI":"blob:a"}}`:                                                   "body.payload.sourceURI",
		`{"type":"ingest","payload":{"filename":"../` + secret + `","document_set":"s"}}`:                   "body.payload.filename",
		`{"type":"ingest","payload":{"filename":"` + strings.Repeat("字", 1000) + `","document_set":"s"}}`:   "body.payload.filename",
		`{"type":"ingest"}`: "body",
		`{"payload":{}}`:    "body",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"priority":"` + secret + `"}`:         "body.priority",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"id":"."}`:                            "body.id",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"id":".."}`:                           "body.id",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"id":"` + secret + `/x"}`:             "body.id",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"webhookUrl":"ftp://` + secret + `"}`: "body.webhookUrl",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"runAt":"` + secret + `"}`:            "body.runAt",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"runAt":"2999-01-01T00:00:00Z"}`:      "body.runAt",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s"},"hints":{"timeoutSeconds":-1}}`:       "body.hints.timeoutSeconds",
		`{"type":"ingest","payload":{"filename":"a","document_set":"s","x":"\u0000` + secret + `"}}`:          "body.payload.x",
		`not JSON ` + secret: "body",
		``:                   "",
	} {
		r := b.want(b.ask("POST", "/v1/jobs", body), http.StatusBadRequest, "VALIDATION_ERROR")
		var p api.Problem
		if err := json.Unmarshal([]byte(r.text), &p); err != nil {
			t.Fatal(err)
		}
		if field != "" && !slices.ContainsFunc(p.Errors, func(f api.ProblemField) bool { return f.Field == field }) {
			t.Errorf("%s: the fields are %+v, want %s", body, p.Errors, field)
		}
		if strings.Contains(r.text, secret) {
			t.Errorf("%s: the value is repeated: %s", body, r.text)
		}
	}
	large := `{"type":"ingest","payload":{"filename":"a","document_set":"s","x":"` + strings.Repeat("x", api.MaxBody) + `"}}`
	b.want(b.ask("POST", "/v1/jobs", large), http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
	b.want(b.ask("POST", "/v1/jobs", "a: 1", "Content-Type", "application/yaml"), http.StatusUnsupportedMediaType,
		"UNSUPPORTED_MEDIA_TYPE")
	if n := len(b.queue.messages()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	// A large message goes by a claim check.
	b.submitted(`{"type":"ingest","payload":{"filename":"a","document_set":"s","x":"` + strings.Repeat("x", 200<<10) + `"}}`)
	if sent := b.queue.messages(); len(sent) != 1 || len(sent[0]) > 1000 || !strings.Contains(sent[0], "claim_check") {
		t.Errorf("sent %d messages", len(sent))
	}
}

// A message that can't be sent does not fail the submission: a sweep sends it.
func TestSubmitWithoutQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.queue.fail = errors.New("no connection")
	id := b.submitted(newFile())
	found, err := b.store.Sweep(t.Context(), store.SweepAges{}, 10)
	if err != nil || len(found.Unsent) != 1 || found.Unsent[0].JobID != id {
		t.Errorf("the sweep finds %+v, %v", found, err)
	}
}

// A message that is larger than the queue's server allows is sent as a claim check.
func TestSubmitToSmallQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.queue.most = 8 << 10
	b.submitted(`{"type":"ingest","payload":{"filename":"a","document_set":"s","x":"` + strings.Repeat("x", 20<<10) + `"}}`)
	found, err := b.store.Sweep(t.Context(), store.SweepAges{}, 10)
	if sent := b.queue.messages(); len(sent) != 1 || !strings.Contains(sent[0], "claim_check") || err != nil || len(found.Unsent) > 0 {
		t.Errorf("sent %.300q; the sweep finds %.300v, %v", sent, found, err)
	}
}

// A job may wait for its time: its message is not sent, and the worker is told when.
func TestRunAt(t *testing.T) {
	t.Parallel()
	var told time.Time
	b := newBench(t, func(d *api.Deps) { d.StartsAt = func(at time.Time) { told = at } })
	at := time.Now().Add(300 * 24 * time.Hour).UTC().Truncate(time.Second)
	later := strings.Replace(newFile(), "{", `{"runAt":"`+at.Format(time.RFC3339)+`",`, 1)
	r := b.want(b.ask("POST", "/v1/jobs", later), http.StatusCreated, "")
	if r.field("runAt") != at.Format(time.RFC3339) || !told.Equal(at) || len(b.queue.messages()) > 0 {
		t.Errorf("%s, told %v, sent %d", r.text, told, len(b.queue.messages()))
	}
	b.submitted(strings.Replace(newFile(), "{", `{"runAt":"2020-01-01T00:00:00Z",`, 1))
	if n := len(b.queue.messages()); n != 1 {
		t.Errorf("%d messages for a job whose time has passed", n)
	}
	b.want(b.ask("POST", "/v1/jobs/"+r.field("id")+"/cancel", ""), http.StatusAccepted, "")
}

// Jobs that wait for their time are as many as messages that wait; their queues may be empty.
func TestRunAtIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.HighWatermark = 2 })
	later := func() string {
		return strings.Replace(newFile(), "{", `{"runAt":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`",`, 1)
	}
	b.submitted(later())
	b.submitted(later())
	r := b.want(b.ask("POST", "/v1/jobs", later()), http.StatusServiceUnavailable, "QUEUE_OVERLOADED")
	if r.header.Get("Retry-After") != "60" {
		t.Errorf("refused with %v", r.header)
	}
	b.submitted(newFile())
}

// A forced run that waits for its time is not displaced by another request for the job.
func TestRunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ask := func(more string) reply {
		return b.ask("POST", "/v1/jobs", `{"type":"ingest","id":"job-1","payload":{"filename":"a.txt","document_set":"s"}`+more+`}`)
	}
	b.want(ask(""), http.StatusCreated, "")
	b.complete(b.begun("job-1"))
	later := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	b.want(ask(`,"hints":{"force":true},"runAt":"`+later+`"`), http.StatusOK, "")
	sent := len(b.queue.messages())
	b.want(ask(`,"hints":{"force":true}`), http.StatusConflict, "RUN_WAITS")
	if n := len(b.queue.messages()); n != sent {
		t.Errorf("%d messages were sent for the refused request", n-sent)
	}
	b.want(b.ask("POST", "/v1/jobs/job-1/cancel", ""), http.StatusAccepted, "")
	b.want(ask(`,"hints":{"force":true}`), http.StatusOK, "")
}

// A document that is worked on is refused, with the job in the way. So is its removal: it could overtake an ingest that waits.
func TestDocumentBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	request := newFile()
	id := b.submitted(request)
	r := b.want(b.ask("POST", "/v1/jobs", request), http.StatusConflict, "DOCUMENT_BUSY")
	if r.field("jobId") != id || r.header.Get("Retry-After") == "" {
		t.Errorf("%s with %v", r.text, r.header)
	}
	b.complete(b.begun(id))
	b.submitted(request)

	document := uuid.NewString()
	b.indexed(document, "s", "guide.pdf")
	id = b.submitted(`{"type":"ingest","payload":{"filename":"guide.pdf","document_set":"s"}}`)
	b.want(b.ask("DELETE", "/v1/documents/"+document, ""), http.StatusConflict, "DOCUMENT_BUSY")
	b.complete(b.begun(id))
	b.want(b.ask("DELETE", "/v1/documents/"+document, ""), http.StatusAccepted, "")
}

// What a client accepts changes nothing: the library fails at some headers, after the job is recorded.
func TestSubmitAccepting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, accept := range []string{"application/json;,*/*", "a;v,b", "text/html", ";q=,", "text/event-stream, a;v,b"} {
		b.want(b.ask("POST", "/v1/jobs", newFile(), "Accept", accept), http.StatusCreated, "")
	}
}
