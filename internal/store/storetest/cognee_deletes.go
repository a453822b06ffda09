package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testCogneeDeletes: a deleted document is forgotten, and what was never sent is not even named.
func testCogneeDeletes(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("never.pdf", "one")
	b.delete("contracts", "never.pdf", "in/a.pdf", nil)
	if got := b.work(); len(got.Documents) > 0 {
		t.Fatalf("claimed %+v", got)
	}
	b.ingest("a.pdf", "one")
	d := b.toSend()
	b.delete("contracts", "a.pdf", "in/a.pdf", nil) // while it is being sent
	if s := b.settle(d, store.CogneeSent, store.CogneeUp); s.Status != "pending" {
		t.Errorf("settled %+v", s)
	}
	d = b.toSend()
	if d.Version != 0 || d.Sent != 1 || d.DataID == "" {
		t.Errorf("claimed %+v", d)
	}
	if s := b.settle(d, store.CogneeForgotten, store.CogneeUp); s.Status != "forgotten" {
		t.Errorf("settled %+v", s)
	}
	if _, err := b.SettleCognee(b.ctx(), cogneeOutcome(d, store.CogneeForgotten, "")); !errors.Is(err, store.ErrCogneeLost) {
		t.Errorf("settled twice: %v", err)
	}
	// Cognee may go on with an upload that got no answer, and list it later: it is asked again until then.
	b.ingest("late.pdf", "one")
	b.settle(b.toSend(), store.CogneeRetry, store.CogneeFailing)
	b.delete("contracts", "late.pdf", "in/a.pdf", nil)
	o := cogneeOutcome(b.toSend(), store.CogneeForgotten, store.CogneeUp)
	o.Unlisted = hour
	if s, err := b.SettleCognee(b.ctx(), o); err != nil || s.Status != "pending" {
		t.Errorf("not listed: %+v, %v", s, err)
	}
	if got := b.work(); len(got.Documents) > 0 || got.Next < hour/60-10*time.Second || got.Next > hour/60 {
		t.Errorf("claimed %+v", got)
	}
}

// testCogneeDeletesAfterAPause: a document that Cognee got before it was switched off, and whose next version it never got,
// is forgotten when it is deleted.
func testCogneeDeletesAfterAPause(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("a.pdf", "one")
	b.settle(b.toSend(), store.CogneeSent, store.CogneeUp)
	if _, err := b.CloseCognee(b.ctx()); err != nil {
		t.Fatal(err)
	}
	b.openCognee()
	b.ingest("a.pdf", "two")
	b.delete("contracts", "a.pdf", "in/a.pdf", nil)
	if d := b.toSend(); d.Version != 0 {
		t.Errorf("claimed %+v, want that it is forgotten", d)
	}
}

// testCogneeChangesMeanwhile: when an attempt fails, what is wanted by then does not wait for its backoff, and has its own
// attempts.
func testCogneeChangesMeanwhile(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("a.pdf", "one")
	d := b.toSend()
	b.ingest("a.pdf", "two")
	if s := b.settle(d, store.CogneeRetry, store.CogneeFailing); s.Status != "pending" {
		t.Errorf("settled %+v", s)
	}
	if d = b.toSend(); d.Version != 2 || d.Attempts != 0 {
		t.Errorf("claimed %+v, want the new version", d)
	}
	b.delete("contracts", "a.pdf", "in/a.pdf", nil)
	b.settle(d, store.CogneeRetry, store.CogneeFailing)
	if d = b.toSend(); d.Version != 0 || d.Attempts != 0 {
		t.Errorf("claimed %+v, want the deletion", d)
	}
	b.settle(d, store.CogneeRetry, store.CogneeFailing)
	if got := b.work(); len(got.Documents) > 0 {
		t.Errorf("claimed %+v before the deletion's own backoff has ended", got)
	}
}
