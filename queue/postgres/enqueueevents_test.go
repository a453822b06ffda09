package postgres_test

import (
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestEnqueueReadsEvents: a CloudEvent is the same task as it is from a queue, whatever stands for a member that is not there.
func TestEnqueueReadsEvents(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	for _, data := range []string{
		`{"job_id":"a1","content_id":"f.pdf"}`,
		`{"job_id":"a2","task_id":null,"tenant_id":"acme","client_id":null,"requested_by":null,"owner_id":"anna","content_id":"f.pdf"}`,
		`{"job_id":null,"task_id":"a3","tenant_id":null,"client_id":"acme","requested_by":"anna","owner_id":null,"content_id":"f.pdf"}`,
		`{"job_id":"a4","task_id":"","task_type":"","client_id":"","tenant_id":"acme","requested_by":"","owner_id":"b","content_id":"f.pdf"}`,
		`{"job_id":"a5","task_type":null,"payload":{"filename":null,"x":null},"content_id":"f.pdf"}`,
		`{"job_id":"a6","task_type":"ingest","payload":{"filename":"g.pdf"},"content_id":"f.pdf"}`,
		`{"job_id":"a7","payload":null,"content_id":"f.pdf"}`,
		`{"job_id":"a8","content_id":null,"payload":{"filename":"g.pdf"}}`,
		`{"job_id":"a9","content_id":"","payload":{"filename":"g.pdf"}}`,
		`{"job_id":"b1","task_id":"b1","content_id":"f.pdf"}`,
		`{"job_id":"b2","task_id":"b3","content_id":"f.pdf"}`,
		`{"job_id":"b4","owner_id":"a","requested_by":"b","content_id":"f.pdf"}`,
		`{"job_id":"b5","tenant_id":"acme","client_id":"other","content_id":"f.pdf"}`,
	} {
		event := `{"specversion":"1.0","id":"1","source":"s","type":"t","data":` + data + `}`
		want, refused := task.Decode(event, task.Options{ClientID: "acme"})
		enqueued := enqueue(t, conn, event)
		got, err := q.Receive(t.Context(), 9, time.Minute)
		must(t, err)
		if refused != nil {
			if enqueued != "AW006" || len(got) > 0 {
				t.Errorf("%s: %s, a worker refuses it: %v", data, enqueued, refused)
			}
			continue
		}
		if enqueued != want.Task.ID+" true" || len(got) != 1 {
			t.Errorf("%s: %s with %d messages, a worker reads %s", data, enqueued, len(got), want.Task.ID)
			continue
		}
		sent, err := task.Decode(got[0].Text, task.Options{ClientID: "acme"})
		if err != nil || sent.Task.Type != want.Task.Type || sent.Task.RequestedBy != want.Task.RequestedBy ||
			sent.Task.ClientID != want.Task.ClientID || message.Record(sent.Task, 5).Fingerprint != message.Record(want.Task, 5).Fingerprint {
			t.Errorf("%s: sent as %s, which is another task: %v", data, got[0].Text, err)
		}
	}
}
