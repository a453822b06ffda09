package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The page of a job has the message as it came off a queue, with what the worker does not know of.
func TestMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin("job-1", "ingest", `{"filename":"a.pdf","document_set":"s"}`, func(m *store.Begin) {
		m.Original = `{"task_id":"job-1","odd":"<b>12345678901234567890123</b>"}`
	})
	v := b.visit("read")
	if a := v.want(v.get("jobs/job-1"), http.StatusOK, "The message as it came", "12345678901234567890123"); strings.Contains(a.text, "<b>1234") {
		t.Error("a message is markup")
	}
}

// A job that another one has submitted is not said to be its replay.
func TestFamily(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.begin("job-1", "ingest", `{"prefix":"in/","document_set":"s"}`)
	found, err := b.store.CompareBlobs(t.Context(), store.BlobComparison{
		Holder: h, DocumentSet: "s", Blobs: []store.NamedBlob{{Name: "in/1.pdf", ETag: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := found[0].ID
	if _, err := b.store.SubmitChildren(t.Context(), h, []store.Submission{{Task: store.Task{
		JobID: id, Type: "ingest", Priority: "low", MaxAttempts: 3, Fingerprint: "f",
		Payload: json.RawMessage(`{"filename":"1.pdf"}`), Hints: json.RawMessage(`{}`),
	}, Queue: "q", Message: "{}"}}); err != nil {
		t.Fatal(err)
	}
	v := b.visit("read")
	v.want(v.get("jobs/job-1"), http.StatusOK, "<dt>Has submitted</dt>", `href="jobs/`+id+`"`)
	v.want(v.get("jobs/"+id), http.StatusOK, "<dt>Submitted by</dt>", `href="jobs/job-1"`)
}
