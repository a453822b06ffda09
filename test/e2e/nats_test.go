package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// newNATSBed returns a tenant without Azure: its tasks come by NATS, its documents lie in a folder.
func newNATSBed(t *testing.T, env ...string) (*bed, jetstream.JetStream) {
	t.Helper()
	built(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	server := natstest.Start(t, nil)
	b := &bed{
		t: t, ctx: ctx, client: stacktest.UniqueName("e2e"), database: stacktest.Postgres(t), hooks: newHooks(t),
		folder: t.TempDir(),
	}
	b.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + t.TempDir(),
		"CLIENT_ID=" + b.client, "DATABASE_URL=" + b.database,
		"QUEUE_BACKEND=nats", "NATS_URL=" + server.URL(), "BLOB_BACKEND=dir", "BLOB_DIR=" + b.folder,
		"LLM_PROVIDER=offline", "WEBHOOK_SECRET=" + receiver.Secret, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8",
		"POLL_MAX_MS=500", "LOG_FORMAT=text",
	}, env...)
	return b, natstest.Connect(t, server.URL())
}

// TestNATS: a task that a foreign client publishes is done, its message removed, and a bad one dead-lettered, without
// any account at Azure.
func TestNATS(t *testing.T) {
	brings(t)
	t.Parallel()
	b, js := newNATSBed(t)
	text := []byte("# Tides\n\nHigh water is at noon.\n")
	if err := os.WriteFile(filepath.Join(b.folder, "tides.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.start()
	for _, m := range []string{b.ingest("one", "tides.md"), `{"task_id": "bad", "task_type": "nonsense", "payload": {}}`} {
		if _, err := js.Publish(b.ctx, "simple-process.jobs", []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.await(b.ctx, "one"); got.Type != "task.completed" {
		t.Errorf("the webhook has %s", got.Type)
	}
	expect(b, "the job", "succeeded after 1", "select status || ' after ' || attempts from jobs where id = 'one'")
	stream, err := js.Stream(b.ctx, "SIMPLE-PROCESS-JOBS")
	if err != nil {
		t.Fatal(err)
	}
	dead, err := stream.Consumer(b.ctx, "ocr-workers-deadletter")
	if err != nil {
		t.Fatal(err)
	}
	batch, err := dead.Fetch(1, jetstream.FetchMaxWait(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if m := <-batch.Messages(); m == nil || m.DoubleAck(b.ctx) != nil {
		t.Errorf("no copy of the dead letter came: %v", batch.Error())
	}
	expect(b, "dead letters", 1, "select count(*)::int from dead_letters")
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	info, err := stream.Info(b.ctx)
	if err != nil || info.State.Msgs != 0 {
		t.Errorf("%d messages are left, %v", info.State.Msgs, err)
	}
}

// TestNATSServerKilled: a worker whose nats-server is killed pauses, connects again for as long as it takes, and goes
// on. What was confirmed is done once.
func TestNATSServerKilled(t *testing.T) {
	brings(t)
	t.Parallel()
	const tasks = 30
	dir := t.TempDir()
	program, err := stack.BuildNATS(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := stack.StartNATS(t.Context(), stack.NATSOptions{Program: program, Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	b, _ := newNATSBed(t, "NATS_URL="+server.URL)
	w := b.start()
	js := natstest.Connect(t, server.URL, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	for i := range tasks {
		name := fmt.Sprintf("%d.md", i)
		text := fmt.Appendf(nil, "# Tide %d\n\nHigh water is at noon.\n", i)
		if err := os.WriteFile(filepath.Join(b.folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if i%10 == 5 { // in the middle of the work
			if err := errors.Join(server.Kill(), server.Restart(b.ctx)); err != nil {
				t.Fatal(err)
			}
		}
		message := b.ingest(fmt.Sprint("task-", i), name)
		for { // until it is confirmed; the task id makes a repetition harmless
			if _, err := js.Publish(b.ctx, "simple-process.jobs", []byte(message)); err == nil {
				break
			} else if b.ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	b.until("jobs that succeeded", tasks, "select count(*)::int from jobs where status = 'succeeded'")
	expect(b, "completions", tasks, "select count(*)::int from job_events where stage = 'completed'")
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}
