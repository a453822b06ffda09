package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
)

// TestCognee: documents arrive at Cognee. While it is down no task waits; when the worker was killed meanwhile, the next
// one sends what is active then.
func TestCognee(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	server := cogneetest.New(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		if down.Load() {
			return &cogneetest.Fault{Drop: true}
		}
		return nil
	}})
	b := newBed(t, "LLM_PROVIDER=offline", "WORKER_LEASE_TTL_SEC=5", "COGNEE_URL="+server.URL(),
		"COGNEE_API_KEY="+cogneetest.Key)
	ingest := func(task, text string) {
		t.Helper()
		b.upload("note.txt", []byte(text))
		b.send(`{"task_id": "` + task + `", "task_type": "ingest", "webhook_url": "` + b.hooks.URL + `",
			"payload": {"filename": "note.txt", "document_set": "e2e"}}`)
		b.await(b.ctx, task)
	}
	first := b.start()
	ingest("a", "The harbour master keeps a record of every ship.")
	first.signal(syscall.SIGKILL)
	_ = first.exit()
	second := b.start()
	ingest("b", "The harbour master keeps a record of every boat.")
	down.Store(false)
	has := func(text string) bool {
		for _, rows := range server.Rows() {
			if len(rows) == 1 && strings.Contains(rows[0].Content, text) && rows[0].InGraph {
				return true
			}
		}
		return false
	}
	for !has("boat") {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.ctx.Done():
			t.Fatalf("Cognee has %+v", server.Rows())
		}
	}
	b.send(`{"task_id": "c", "task_type": "ingest", "webhook_url": "` + b.hooks.URL + `",
		"payload": {"filename": "note.txt", "document_set": "e2e", "delete": true}}`)
	b.await(b.ctx, "c")
	for len(server.Rows()) > 0 {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.ctx.Done():
			t.Fatalf("Cognee has %+v", server.Rows())
		}
	}
	for _, c := range server.Changes() {
		if strings.Contains(c.Content, "ship") {
			t.Errorf("a version that was replaced while Cognee was down was sent: %+v", c)
		}
	}
	second.signal(syscall.SIGTERM)
	if err := second.exit(); err != nil {
		t.Error(err)
	}
}
