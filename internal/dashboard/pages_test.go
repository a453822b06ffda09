package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	h := b.begin("job-1", "ingest", `{"filename":"report.pdf","document_set":"s"}`)
	id := b.fail(b.begin("job-2", "ingest", `{"filename":"broken.pdf","document_set":"s"}`), taskerr.CorruptionDetected, "it is broken")
	_ = h
	for path, text := range map[string]string{
		"": "report.pdf", "jobs": "broken.pdf", "jobs/job-1": "report.pdf", "jobs/job-2": "it is broken", "dead-letters": "it is broken",
		"dead-letters/" + id: "it is broken", "documents": "no document", "documents/upload": "drop it", "search": "By words",
		"search?q=x": "Nothing was found", "ask": "Question", "webhooks": "There is none", "settings": "CLIENT_ID",
		"schedules": "There is none", "new-schedule": "Add a schedule",
		"settings?all=1": "WORKER_CONCURRENCY", "doctor": "Try everything", "jobs/job-1/cancel": "Cancel this job?",
		"jobs/job-2/retry": "Retry this job?", "change-jobs?action=cancel&all=yes": "Cancel 1 job?", "dead-letters/replay": "Replay 1 dead",
		"dead-letters/" + id + "/replay": "Replay this", "dead-letters/" + id + "/delete": "Remove this",
	} {
		v.want(v.get(path), http.StatusOK, text)
	}
}

// A webhook that was sent again shows how it ended before, on its own page and on the job's.
func TestResent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.furnish()
	v := b.visit("operate")
	v.want(v.post("webhooks/"+w.delivery+"/resend"), http.StatusOK, "until it was sent again", "failed, answered 410")
	v.want(v.get("webhooks?status=pending"), http.StatusOK, "until it was sent again", "failed, answered 410")
}

// A job may have the name of a part of the pages.
func TestJobNamedLikeAPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	for _, id := range []string{"live", "bulk", "new"} {
		b.begin(id, "ingest", `{"filename":"`+id+`.pdf","document_set":"s"}`)
		v.want(v.get("jobs/"+id), http.StatusOK, id+".pdf", "Cancel…")
	}
}

// What the model has taken back is not shown as a part of the answer, while it is written and after a failure.
func TestAnswerTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	h := b.begin("asked", "agent", `{"prompt":"How fast?"}`)
	for _, piece := range []string{
		`{"delta":"Let me read."}`, `{"delta":"At 22","restart":true}`, `{"delta":" m/s"}`,
	} {
		b.report(h, store.Event{Stage: "streaming_response", Progress: 30, Metadata: json.RawMessage(piece)})
	}
	want := func() {
		t.Helper()
		if a := v.want(v.get("jobs/asked"), http.StatusOK, "At 22 m/s"); strings.Contains(a.text, "Let me read.") {
			t.Errorf("the page shows what was taken back: %s", plainOf(a.text))
		}
	}
	want()
	b.fail(h, taskerr.NetworkTimeout, "no answer")
	want()
}

// The answer of an earlier attempt is not a part of the new one, also when the number of the attempt is 1 again and it has
// not written anything yet.
func TestAnswerOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	const payload = `{"prompt":"How fast?"}`
	write := func(h store.Holder, text string) {
		t.Helper()
		b.report(h, store.Event{Stage: "streaming_response", Progress: 30, Metadata: delta(text)})
	}
	want := func(text string, gone ...string) {
		t.Helper()
		a := v.want(v.get("jobs/asked"), http.StatusOK, text)
		for _, g := range gone {
			if strings.Contains(a.text, g) {
				t.Errorf("the page shows %q of an earlier attempt: %s", g, plainOf(a.text))
			}
		}
	}
	h := b.begin("asked", "ai", payload)
	write(h, "At twenty")
	if _, err := b.store.Release(t.Context(), store.Release{Holder: h}); err != nil {
		t.Fatal(err)
	}
	want("At twenty")
	h = b.begin("asked", "ai", payload)
	want("attempt 1 of 3", "At twenty")
	write(h, "At 22 m/s.")
	want("At 22 m/s.", "At twenty")
	b.complete(h, `{}`)
	h = b.begin("asked", "ai", payload, func(m *store.Begin) { m.Force = true })
	want("attempt 1 of 3", "At 22")
	write(h, "At 25")
	write(h, " m/s.")
	want("At 25 m/s.", "At 22")
}
