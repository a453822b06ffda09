package dashboard_test

import (
	"net/http"
	"testing"

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
		"jobs/job-2/retry": "Retry this job?", "jobs/bulk?action=cancel": "Cancel 1 job?", "dead-letters/replay": "Replay 1 dead",
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
