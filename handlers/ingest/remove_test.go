package ingest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	removal = `{"filename":"handbook.md","document_set":"docs","delete":true}`
	purge   = `{"filename":"handbook.md","document_set":"docs","delete":true,"purge":true}`
)

// removed is the result of a removal.
type removed struct {
	DocumentID *string `json:"document_id"`
	Filename   string
	Deleted    bool
	Chunks     int `json:"chunks_deleted"`
}

func (b *bench) remove() (r removed) {
	b.Helper()
	c := b.Begin(removal, task.Hints{})
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.Complete(c, out, &r)
	return r
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(3))
	first := b.ingest(handbook, task.Hints{})
	if r := b.remove(); !r.Deleted || r.DocumentID == nil || *r.DocumentID != first.DocumentID ||
		r.Chunks != first.Chunks || r.Filename != "handbook.md" {
		t.Errorf("removed %+v of %+v", r, first)
	}
	if hits, err := b.Store.Search(t.Context(), store.Query{Text: "harbours", Limit: 1}); err != nil || len(hits) != 0 {
		t.Errorf("still found: %+v, %v", hits, err)
	}
	if r := b.remove(); r.Deleted || r.DocumentID != nil || r.Chunks != 0 {
		t.Errorf("removed an absent document: %+v", r)
	}
	if _, err := b.Bucket.Stat(t.Context(), "handbook.md"); err != nil {
		t.Errorf("the sender's blob: %v", err)
	}
	if again := b.ingest(handbook, task.Hints{}); again.Version != 1 || again.Unchanged ||
		again.Embedded != again.Chunks {
		t.Errorf("ingested again: %+v", again)
	}
}

// A purge removes the blobs that were derived from a document, and the services' results kept under its hash, before
// its rows. If an attempt ends in between, the next one repeats it.
func TestPurge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(3))
	first := b.ingest(handbook, task.Hints{})
	const derived, kept = "derived/handbook.md/1.md", "derived/docling/"
	b.Put(derived, "# derived")
	b.Put(kept+first.ContentSHA256, "{}")
	for _, name := range []string{"decks/1.json", "decks/1/preview.png", "decks/1/media/a.png", "decks/12.json"} {
		b.Put(name, "x")
	}
	b.deps.KeptUnder = func(sha256 string) []string { return []string{kept + sha256, "derived/docling/none"} }
	b.handler = ingest.New(b.deps)
	c := b.Begin(`{"filename":"handbook.md"}`, task.Hints{})
	if _, err := b.Store.Complete(t.Context(), store.Completion{
		Holder: c.Holder, Result: json.RawMessage("{}"),
		Effects: []store.Effect{{
			Kind: store.EffectRecordDerived, Args: store.DerivedRecord{
				SourceFilename: "handbook.md", SourceBlob: "handbook.md", SourceSHA256: first.ContentSHA256,
				Recipe: "r", Blob: derived, Format: "markdown", Engine: "e",
			},
		}, {
			Kind: store.EffectRecordDeck, Args: store.DeckRecord{
				ID: "00000000-0000-4000-8000-000000000001", SourceFilename: "handbook.md", SourceSHA256: first.ContentSHA256,
				Blob: "decks/1.json", PreviewBlob: "decks/1/preview.png",
			},
		}},
	}); err != nil {
		t.Fatal(err)
	}

	c = b.Begin(purge, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); err != nil { // the worker dies before the commit
		t.Fatal(err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "decks/12.json"); err != nil {
		t.Errorf("another deck: %v", err)
	}
	for _, name := range []string{
		derived, kept + first.ContentSHA256, "decks/1.json", "decks/1/preview.png", "decks/1/media/a.png",
	} {
		if _, err := b.Bucket.Stat(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	settled, err := b.Store.Complete(t.Context(), store.Completion{
		Holder: c.Holder, Result: json.RawMessage("{}"), Effects: out.Effects,
	})
	var r struct{ Removed, Kept map[string]int }
	if err == nil {
		err = json.Unmarshal(settled.Result, &r)
	}
	if err != nil || r.Removed["derived_contents"] != 1 || r.Kept["derived_blobs"] != 0 || r.Removed["decks"] != 1 ||
		r.Kept["decks"] != 0 {
		t.Errorf("%s, %v", settled.Result, err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "handbook.md"); err != nil {
		t.Errorf("the sender's blob: %v", err)
	}
	if err := b.handler.Check(task.Task{Payload: json.RawMessage(
		`{"filename":"a.md","document_set":"s","purge":true}`)}); err == nil {
		t.Error("a purge without a delete was accepted")
	}
}

// A removal waits for an ingest in progress, and an ingest for a removal: the last request wins.
func TestRemovalTakesItsTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(3))
	ingesting := b.Begin(handbook, task.Hints{})
	out, err := b.handler.Handle(t.Context(), ingesting)
	if err != nil {
		t.Fatal(err)
	}
	removing := b.Begin(removal, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), removing); !busy(err) {
		t.Errorf("while it is ingested: %v, want a BusyError", err)
	}
	b.complete(ingesting, out)
	if out, err = b.handler.Handle(t.Context(), removing); err != nil {
		t.Fatal(err)
	}
	if _, err := b.handler.Handle(t.Context(), b.Begin(handbook, task.Hints{})); !busy(err) {
		t.Errorf("while it is removed: %v, want a BusyError", err)
	}
	if _, err := b.Store.Complete(t.Context(), store.Completion{
		Holder: removing.Holder, Result: json.RawMessage("{}"),
		Effects: out.Effects,
	}); err != nil {
		t.Error(err)
	}
}

func busy(err error) bool {
	_, ok := errors.AsType[*store.BusyError](err)
	return ok
}

func TestRemovalIsTrueOrFalse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, value := range []string{`"true"`, `1`, `"yes"`, `{}`} {
		err := b.handler.Check(task.Task{
			Type: task.Ingest, Payload: json.RawMessage(`{"filename":"a","document_set":"s","delete":` + value + `}`),
		})
		if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Class != taskerr.ValidationError ||
			!strings.Contains(failure.Message, "delete_missing are true or false") {
			t.Errorf("delete: %s: %v", value, err)
		}
	}
	b.Put("handbook.md", text(1))
	if r := b.ingest(`{"filename":"handbook.md","document_set":"docs","delete":false}`, task.Hints{}); r.Chunks == 0 {
		t.Errorf("delete: false: %+v", r)
	}
}
