package e2e

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// longDocument has far more chunks than one request embeds.
func longDocument() []byte {
	var b strings.Builder
	b.WriteString("# Log of the duty officer\n")
	for day := range 400 {
		fmt.Fprintf(&b, "\n## Day %d\n\n", day)
		for watch := range 6 {
			fmt.Fprintf(&b, "Watch %d of day %d: wind %d knots, %d ships in, %d ships out, pumps tried, lamp %d "+
				"lit.\n\n",
				watch, day, day%50, watch+day%7, day%5, day*watch)
		}
	}
	return []byte(b.String())
}

// modelEnv are the settings for a stub of the model's service.
func modelEnv(model *llmtest.Server) []string {
	return []string{"OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=" + llmtest.Key}
}

// TestKilledInTheMiddle: killed with -9 after some chunks were staged and while others are being embedded, and
// started again, the worker completes the task once (I1, I2, I4).
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{})
	hanging := make(chan struct{})
	var once sync.Once
	model.Script(llmtest.Fault{}) // the first request is answered
	model.Break(llmtest.Fault{Hang: true, Before: func() { once.Do(func() { close(hanging) }) }})
	b := newBed(t, append(modelEnv(model), "WORKER_LEASE_TTL_SEC=12")...) // longer than a pause of the machine
	b.upload("log.md", longDocument())
	first := b.start()
	b.send(b.ingest("crash", "log.md"))
	select {
	case <-hanging:
	case <-b.ctx.Done():
		t.Fatal("no second request came to the model")
	}
	for query[int](b, "select count(*) from document_chunks") == 0 {
		if b.ctx.Err() != nil {
			t.Fatal("no chunk was staged")
		}
	}
	if err := first.Stop(syscall.SIGKILL, time.Minute); err != nil {
		t.Fatal(err)
	}
	expect(b, "active version of a half document", true, "select active_version is null from documents")
	model.Mend()

	b.start()
	got := b.await(b.ctx, "crash")
	if got.Type != "task.completed" || got.Attempt != 2 {
		t.Errorf("the webhook has %s in attempt %d, want task.completed in attempt 2", got.Type, got.Attempt)
	}
	expect(b, "the job", "succeeded after 2", "select status || ' after ' || attempts from jobs where id = 'crash'")
	expect(b, "versions", "active", "select string_agg(status, ',') from document_versions")
	expect(b, "orphan chunks", 0, "select count(*) from document_chunks c join documents d on d.id = c.document_id "+
		"where c.version is distinct from d.active_version")
	chunks := int(got.Result["chunks"].(float64))
	expect(b, "chunks", chunks, "select count(*) from document_chunks")
	expect(b, "the last position", chunks-1, "select max(position) from document_chunks")
	expect(b, "terminal events", 1, "select count(*) from job_events where job_id = 'crash' and stage = 'completed'")
	expect(b, "gaps between events", 0, "select max(seq)::int - count(*)::int from job_events where job_id = 'crash'")
	expect(b, "deliveries", 1, "select count(*) from webhook_deliveries where job_id = 'crash'")
	if ids := b.hooks.IDs("crash"); len(ids) != 1 {
		t.Errorf("webhook-ids %v, want one", ids)
	}
}

// TestDrain: on SIGTERM the worker finishes running tasks, takes no others, and exits with 0; other messages are
// visible at once, and the next worker processes them.
func TestDrain(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{})
	reached, release := make(chan struct{}), make(chan struct{})
	model.Script(llmtest.Fault{Before: func() { close(reached); <-release }})
	b := newBed(t, append(modelEnv(model), "WORKER_CONCURRENCY=1")...)
	b.upload("a.md", []byte("# A\n\nThe first document.\n"))
	b.upload("b.md", []byte("# B\n\nThe second document.\n"))
	w := b.start()
	b.send(b.ingest("current", "a.md"))
	<-reached
	b.send(b.ingest("unstarted", "b.md"))
	w.signal(syscall.SIGTERM)
	w.await("STOPPING=1")
	close(release)
	if err := w.exit(); err != nil {
		t.Errorf("the worker ended with %v, want 0", err)
	}
	if got := b.await(b.ctx, "current"); got.Type != "task.completed" || got.Attempt != 1 {
		t.Errorf("what ran ended as %s in attempt %d, want task.completed in attempt 1", got.Type, got.Attempt)
	}
	expect(b, "attempts at what had not begun", 0,
		"select coalesce(sum(attempts), 0)::int from jobs where id = 'unstarted'")
	if *onQueue == "azure" {
		b.sees("unstarted")
	}

	b.start()
	if got := b.await(b.ctx, "unstarted"); got.Type != "task.completed" || got.Attempt != 1 {
		t.Errorf("what had not begun ended as %s in attempt %d, want task.completed in attempt 1", got.Type,
			got.Attempt)
	}
	if len(b.hooks.IDs("current")) != 1 {
		t.Errorf("webhook-ids of what ran: %v, want one", b.hooks.IDs("current"))
	}
}

// sees checks that one message can be seen on the queue at Azure, and whose it is.
func (b *bed) sees(task string) {
	b.t.Helper()
	visible, err := b.queue().PeekMessage(b.ctx, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(visible.Messages) != 1 || !strings.Contains(*visible.Messages[0].MessageText, task) {
		b.t.Errorf("%d messages can be seen on the queue, want that of %s", len(visible.Messages), task)
	}
}
