package dashboard_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

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
	if err := b.store.SubmitChildren(t.Context(), h, []store.Submission{{Task: store.Task{
		JobID: id, Type: "ingest", Priority: "low", MaxAttempts: 3, Fingerprint: "f",
		Payload: json.RawMessage(`{"filename":"1.pdf"}`), Hints: json.RawMessage(`{}`),
	}, Queue: "q", Message: "{}"}}); err != nil {
		t.Fatal(err)
	}
	v := b.visit("read")
	v.want(v.get("jobs/job-1"), http.StatusOK, "<dt>Has submitted</dt>", `href="jobs/`+id+`"`)
	v.want(v.get("jobs/"+id), http.StatusOK, "<dt>Submitted by</dt>", `href="jobs/job-1"`)
}
