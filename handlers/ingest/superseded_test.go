package ingest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// sent begins the job of a message that was sent a time ago, and handles it.
func (b *bench) sent(ago time.Duration, payload string) (handlers.Call, handlers.Outcome) {
	b.Helper()
	b.Job.Source.InsertedAt = time.Now().Add(-ago)
	c := b.Begin(payload, task.Hints{})
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	return c, out
}

// comeBack handles another attempt of a job that let others pass, and completes it.
func (b *bench) comeBack(c handlers.Call) result {
	b.Helper()
	c = b.BeginAs(c.Task.ID, task.Ingest, string(c.Task.Payload), task.Hints{})
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	if len(out.Effects) != 0 || slices.Contains(out.Unused, taskerr.Database) || !slices.Contains(out.Unused, taskerr.Model) ||
		!slices.Contains(out.Unused, taskerr.Storage) {
		b.Errorf("effects %+v; unused %v", out.Effects, out.Unused)
	}
	return b.complete(c, out)
}

func (b *bench) release(c handlers.Call) {
	b.Helper()
	if _, err := b.Store.Release(b.Context(), store.Release{Holder: c.Holder, Waits: true}); err != nil {
		b.Fatal(err)
	}
}

// TestSuperseded: an ingest that comes back after a later one of its document has ended asks no model and writes nothing; a
// removal removes no blob. Both say so.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{
		"ingest": `{"filename":"handbook.md","document_set":"docs","blob":"up/1.md","metadata":{"title":"old"}}`,
		"purge":  purge,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Put("up/1.md", text(3))
			b.Put("up/2.md", text(5, 2))
			old, _ := b.sent(time.Hour, payload)
			b.release(old)
			c, out := b.sent(time.Minute, `{"filename":"handbook.md","document_set":"docs","blob":"up/2.md","metadata":{"title":"new"}}`)
			newer := b.complete(c, out)
			derive(b, "derived/1.md", newer.ContentSHA256)

			calls := b.model.Requests()
			r := b.comeBack(old)
			if !r.Unchanged || r.DocumentID != newer.DocumentID || r.Version != newer.Version || r.Chunks != newer.Chunks ||
				r.ContentSHA256 != newer.ContentSHA256 || r.Filename != "handbook.md" || r.DocumentSet != "docs" {
				t.Errorf("%+v; the later one was %+v", r, newer)
			}
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], c.Task.ID) || !strings.Contains(r.Warnings[0], "nothing was done") {
				t.Errorf("warnings %q", r.Warnings)
			}
			if n := b.model.Requests() - calls; n != 0 {
				t.Errorf("%d model calls", n)
			}
			if _, err := b.Bucket.Stat(t.Context(), "derived/1.md"); err != nil {
				t.Errorf("a blob that was derived of the document: %v", err)
			}
			hits, err := b.Store.Search(t.Context(), store.Query{Text: "edited", Limit: 1})
			if err != nil || len(hits) != 1 || hits[0].Filename != "handbook.md" {
				t.Errorf("found %+v, %v", hits, err)
			}
		})
	}
}

// derive records a blob that was derived of handbook.md.
func derive(b *bench, name, sha256 string) {
	b.Helper()
	b.Put(name, "# derived")
	c := b.Begin(`{"filename":"handbook.md"}`, task.Hints{})
	if _, err := b.Store.Complete(b.Context(), store.Completion{
		Holder: c.Holder, Result: []byte("{}"), Effects: []store.Effect{{
			Kind: store.EffectRecordDerived, Args: store.DerivedRecord{
				SourceFilename: "handbook.md", SourceBlob: "up/2.md", SourceSHA256: sha256, Recipe: "r", Blob: name,
				Format: "markdown", Engine: "e",
			},
		}},
	}); err != nil {
		b.Fatal(err)
	}
}
