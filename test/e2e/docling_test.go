package e2e

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
)

// doclingEnv are the settings for a stub of docling-serve.
func doclingEnv(s *doclingtest.Server) []string {
	return []string{
		"DOCLING_URL=" + s.URL(), "DOCLING_API_KEY=" + doclingtest.Key, "LLM_PROVIDER=offline",
		"WORKER_LEASE_TTL_SEC=12",
	}
}

// settle waits until a query returns true.
func settle(b *bed, what, sql string) {
	b.t.Helper()
	for !query[bool](b, sql) {
		if !b.moment() {
			b.t.Fatalf("%s: %v", what, context.Cause(b.ctx))
		}
	}
}

// TestKilledWhileDoclingConverts: killed with -9 while docling-serve is at work, and started again, the worker
// waits for the same conversion, and its result serves another document of the same bytes: one conversion is paid.
func TestKilledWhileDoclingConverts(t *testing.T) {
	t.Parallel()
	docling := doclingtest.New(t, doclingtest.Options{})
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	docling.Plan(doclingtest.Conversion{Held: held})
	b := newBed(t, doclingEnv(docling)...)
	b.upload("rules.html", []byte("<html><body><h1>Harbour rules</h1><p>Ships report.</p></body></html>"))
	first := b.start()
	b.send(b.ingest("crash", "rules.html"))
	settle(b, "the conversion's id in the checkpoint",
		"select coalesce((select checkpoint::text like '%\"task\"%' from jobs where id = 'crash'), false)")
	if err := first.Stop(syscall.SIGKILL, time.Minute); err != nil {
		t.Fatal(err)
	}
	release()
	b.start()
	got := b.await(b.ctx, "crash")
	if got.Type != "task.completed" || got.Attempt != 2 || got.Result["extractor"] != "docling" {
		t.Errorf("the webhook has %s in attempt %d by %v, want task.completed in attempt 2 by docling", got.Type,
			got.Attempt, got.Result["extractor"])
	}
	expect(b, "what is found", true, "select bool_or(content like '%harbour master%') from document_chunks")
	// The same bytes again: the result is in the tenant's container.
	b.upload("copy.html", []byte("<html><body><h1>Harbour rules</h1><p>Ships report.</p></body></html>"))
	b.send(b.ingest("copy", "copy.html"))
	if got := b.await(b.ctx, "copy"); got.Type != "task.completed" {
		t.Errorf("the copy ended as %s: %v", got.Type, got.Error)
	}
	if n := docling.Conversions(); n != 1 {
		t.Errorf("%d conversions were paid, want 1", n)
	}
}
