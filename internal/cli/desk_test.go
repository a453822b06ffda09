package cli

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// desk is a tenant on a real Azurite and a real Postgres, and the commands of its operator.
type desk struct {
	*testing.T
	*app.Tenant
	env []string
	url string // of the database, as superuser
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, url: stacktest.PostgresWith(t, schema.Options{})}
	d.env = []string{
		"CLIENT_ID=" + stacktest.UniqueName("c"), "AZURE_STORAGE_CONNECTION_STRING=" + stacktest.Azurite(t),
		"DATABASE_URL=" + d.url, "LLM_PROVIDER=offline", "LOG_FORMAT=text", "POLL_MAX_MS=100",
	}
	cfg, err := config.Load(config.Sources{Environ: d.env, ReadFile: os.ReadFile}, replayNeeds|config.Log)
	if err != nil {
		t.Fatal(err)
	}
	if d.Tenant, err = app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler),
		replayNeeds&app.Everything); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Tenant.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(d.EnsureQueues(t.Context()), d.Bucket.Ensure(t.Context())); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) command(args ...string) result {
	return onServices(d.Context(), d.env, args...)
}

// fail makes a job that has failed, as the engine does: row, dead letter, and its copy on the queue.
func (d *desk) fail(id, payload string, edit ...func(*task.Task)) (letter string) {
	d.Helper()
	t := task.Task{
		ID: id, Type: task.Ingest, Payload: json.RawMessage(payload), Priority: task.PriorityNormal,
		WebhookURL: "https://hook.example/" + id,
	}
	for _, e := range edit {
		e(&t)
	}
	text, err := task.Encode(t)
	if err != nil {
		d.Fatal(err)
	}
	source := store.Source{Queue: "q", MessageID: uuid.NewString()}
	b, err := d.Store.Begin(d.Context(), store.Begin{
		Task: store.Task{
			JobID: t.ID, Type: string(t.Type), Payload: t.Payload, Hints: json.RawMessage(`{}`),
			Priority: string(t.Priority), WebhookURL: t.WebhookURL, Fingerprint: task.Fingerprint(t), MaxAttempts: 3,
		},
		Worker: "w", Lease: time.Hour, Source: source, Original: text,
	})
	if err != nil || b.Decision != store.Run {
		d.Fatalf("begin: %+v, %v", b, err)
	}
	s, err := d.Store.Fail(d.Context(), store.Failure{
		Holder: store.Holder{JobID: id, Fence: b.Fence}, Reason: "permanent", Source: source, Original: text,
		Error: store.ErrorInfo{
			Type: "ContentMissing", Class: "content_missing", Code: "INGEST_CONTENT_MISSING",
			Message: "the blob is not there",
		},
	})
	if err != nil {
		d.Fatal(err)
	}
	d.bury(s.DeadLetter, text)
	return s.DeadLetter.ID
}

func (d *desk) bury(ref *store.DeadLetterRef, text string) {
	d.Helper()
	copied, err := json.Marshal(engine.Envelope{
		ID: ref.ID, ClientID: d.Config.ClientID, Reason: ref.Reason, Original: text,
	})
	if err != nil {
		d.Fatal(err)
	}
	if _, err := d.Queues.DeadLetter.Send(d.Context(), string(copied),
		queue.SendOptions{TTL: queue.Never}); err != nil {
		d.Fatal(err)
	}
	if err := d.Store.DeadLetterSent(d.Context(), ref.ID); err != nil {
		d.Fatal(err)
	}
}

// refuse makes the dead letter of a message that never became work.
func (d *desk) refuse(reason, text string) (letter string) {
	d.Helper()
	s, err := d.Store.Reject(d.Context(), store.Rejection{
		Reason: reason, Original: text, Source: store.Source{Queue: "q", MessageID: uuid.NewString()},
		Error: store.ErrorInfo{
			Type: "ValidationError", Class: "validation_error", Code: "VALIDATION_ERROR", Message: "it is not a task",
		},
	})
	if err != nil {
		d.Fatal(err)
	}
	d.bury(s.DeadLetter, text)
	return s.DeadLetter.ID
}

func (d *desk) depth(q queue.Queue) int {
	d.Helper()
	n, err := q.Depth(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	return n
}

// messages takes all tasks off a queue.
func (d *desk) messages(q queue.Queue) (tasks []task.Task) {
	d.Helper()
	for {
		batch, err := q.Receive(d.Context(), queue.MaxBatch, time.Minute)
		if err != nil {
			d.Fatal(err)
		}
		if len(batch) == 0 {
			return tasks
		}
		for _, m := range batch {
			decoded, err := task.Decode(m.Text, task.Options{ClientID: d.Config.ClientID})
			if err != nil {
				d.Fatal(err)
			}
			tasks = append(tasks, decoded.Task)
			if err := m.Lease.Delete(d.Context()); err != nil {
				d.Fatal(err)
			}
		}
	}
}

func (d *desk) job(id string) store.Job {
	d.Helper()
	j, err := d.Store.Job(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	return j
}

const report = `{"filename":"report.md","document_set":"s"}`
