package e2e

import (
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// TestCanceledInTheMiddle: an ingest that waits for its model, with chunks already staged, ends soon after a cancel
// request, long before the next heartbeat, and none of its rows stays (I7).
func TestCanceledInTheMiddle(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{})
	hanging := make(chan struct{})
	var once sync.Once
	model.Script(llmtest.Fault{}) // the first request is answered
	model.Break(llmtest.Fault{Hang: true, Before: func() { once.Do(func() { close(hanging) }) }})
	b := newBed(t, append(modelEnv(model), "WORKER_LEASE_TTL_SEC=3600")...)
	b.upload("log.md", longDocument())
	b.start()
	b.send(b.ingest("cancel", "log.md"))
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
	expect(b, "the answer to the request", "running",
		"select aw_request_cancel(jsonb_build_object('client_id', $1::text, 'job_id', 'cancel', 'by', 'a test')) "+
			"->> 'status'", b.client)

	if got := b.await(b.ctx, "cancel"); got.Type != "task.canceled" || got.Attempt != 1 {
		t.Errorf("the webhook has %s in attempt %d, want task.canceled in attempt 1", got.Type, got.Attempt)
	}
	expect(b, "the job", "canceled after 1", "select status || ' after ' || attempts from jobs where id = 'cancel'")
	for _, table := range []string{"documents", "document_versions", "document_chunks", "dead_letters"} {
		expect(b, "rows left in "+table, 0, "select count(*) from "+table)
	}
	expect(b, "the last event", "canceled",
		"select stage from job_events where job_id = 'cancel' order by seq desc limit 1")
}
