package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// packedBucket is a container with one blob that was uploaded with Content-Encoding gzip.
type packedBucket struct {
	blob.Bucket
	content string
}

func (b packedBucket) Open(context.Context, string) (blob.Properties, io.ReadCloser, error) {
	return blob.Properties{Encoding: "gzip"}, io.NopCloser(strings.NewReader(b.content)), nil
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const claimed = `{"task_id":"t1","task_type":"test","webhook_url":"https://example.org/","requested_by":"ann","colour":1,
	"claim_check":{"blob":"tasks/t1.json"}}`

// A claim check whose blob can't become a task fails the job that it names itself, and its receiver hears of it.
func TestBadBlobOfClaimCheck(t *testing.T) {
	for name, c := range map[string]struct{ blob, reason string }{
		"no JSON":     {"certainly not JSON", "malformed"},
		"empty":       {"", "malformed"},
		"too long":    {strings.Repeat("x", 3*task.MaxBytes), "malformed"},
		"no id":       {`{"task_type":"test","payload":{}}`, "invalid_field"},
		"no payload":  {`{"task_id":"t1","task_type":"test"}`, "invalid_payload"},
		"packed bomb": {gzipped(t, strings.Repeat(" ", 30*task.MaxBytes)), "malformed"},
		"cut off":     {gzipped(t, message("t1", ""))[:40], string(taskerr.CorruptionDetected)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bucket = packedBucket{content: c.blob}
				w.start(done)
				w.send(w.queues.Normal, claimed)
				w.settled(time.Minute)
				w.expectDepth(w.queues.Normal, 0)
				if env := w.expectBuried(c.reason); env.TaskID != "t1" || env.TaskType != "test" || env.Original != claimed {
					t.Errorf("the envelope is %+v", env)
				}
				w.expectState("t1", job.Failed, 0)
				if r := w.row("t1"); r.RequestedBy != "ann" || len(r.Outbox) != 1 {
					t.Errorf("asked for by %q, %d webhooks", r.RequestedBy, len(r.Outbox))
				}
			})
		})
	}
}

// A blob that is another client's message fails no job of ours, whatever its claim check says.
func TestClaimCheckForAnotherClient(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bucket = packedBucket{content: `{"task_type":"test","payload":{},"client_id":"other"}`}
		w.start(done)
		w.send(w.queues.Normal, claimed)
		w.settled(time.Minute)
		if env := w.expectBuried("wrong_client"); env.TaskID != "" || env.Original != claimed {
			t.Errorf("the envelope is %+v", env)
		}
		if _, there := w.store.Row("t1"); there {
			t.Error("I10: a job is recorded")
		}
	})
}

// A claim check may be uploaded compressed. What it says beside its blob's name is logged when nobody knows it.
func TestPackedClaimCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bucket = packedBucket{content: gzipped(t, message("t1", ""))}
		w.start(done)
		w.send(w.queues.Normal, claimed)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectLog("unknown fields", "colour")
	})
}
