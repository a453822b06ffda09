package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// meter counts what ingest asks of its bucket and its store.
type meter struct {
	blob.Bucket
	store.Documents
	bytes, staged, asked atomic.Int64 // read of blobs; chunks sent; questions about keys
}

func metered(m *meter) func(*ingest.Deps) {
	return func(d *ingest.Deps) {
		m.Bucket, m.Documents = d.Bucket, d.Documents
		d.Bucket, d.Documents = m, m
	}
}

func (m *meter) OpenChanged(ctx context.Context, name, etag string) (blob.Properties, io.ReadCloser, error) {
	p, body, err := m.Bucket.OpenChanged(ctx, name, etag)
	if err != nil {
		return p, nil, err
	}
	return p, struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, counter{&m.bytes}), body}, nil
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

func (m *meter) KnownChunks(ctx context.Context, keys []string) (map[string]bool, error) {
	m.asked.Add(1)
	return m.Documents.KnownChunks(ctx, keys)
}

func (m *meter) StageChunks(ctx context.Context, b store.ChunkBatch) ([]string, error) {
	m.staged.Add(int64(len(b.Chunks)))
	return m.Documents.StageChunks(ctx, b)
}

// since returns what was counted and begins again.
func (m *meter) since() (bytes, staged, asked int64) {
	return m.bytes.Swap(0), m.staged.Swap(0), m.asked.Swap(0)
}

// paged reads lines of the form "page|text", each a paragraph there.
type paged struct {
	extract.Runner
	version int
}

func (p *paged) Version(extract.Format) string { return fmt.Sprint("paged@", p.version) }

func (p *paged) Extract(
	_ context.Context, src extract.Source, _ extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	content, err := os.ReadFile(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	info := extract.Info{Extractor: "paged"}
	for line := range strings.Lines(string(content)) {
		page, text, _ := strings.Cut(strings.TrimSpace(line), "|")
		b := extract.Block{Kind: extract.Paragraph, Text: text, Box: &extract.Box{Left: .1, Right: .9}}
		if _, err := fmt.Sscan(page, &b.Page); err != nil {
			continue // not text
		}
		info.Pages, info.Characters = max(info.Pages, b.Page), info.Characters+len(text)
		if err := emit(b); err != nil {
			return info, err
		}
	}
	return info, nil
}

// renamed is a model of another name.
type renamed struct {
	llm.Embedder
	name *string
}

func (r renamed) Model() string { return *r.name }

// lines are n paragraphs, each long enough for a chunk, two to a page, from a page on.
func lines(n, first int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "%d|", first+i/2)
		for j := range 60 {
			fmt.Fprintf(&s, "Statement %d of paragraph %d is about harbours. ", j, i)
		}
		s.WriteString("\n")
	}
	return s.String()
}

const sheet = `{"filename":"sheet.txt","document_set":"docs"}`

// Each gate lets through only what it has to: the ETag no download, the bytes no extraction, the text no write.
func TestGates(t *testing.T) {
	t.Parallel()
	var m meter
	reader, model := &paged{version: 1}, "model-a"
	b := newBench(t, metered(&m), func(d *ingest.Deps) {
		d.Extractor, d.Embedder = reader,
			renamed{d.Embedder, &model}
	})
	original := lines(20, 1)
	b.Put("sheet.txt", original)
	first := b.ingest(sheet, task.Hints{})
	if first.Embedded != first.Chunks || first.Chunks < 20 || first.Pages != 10 {
		t.Fatalf("first: %+v", first)
	}
	size := int64(len(original))
	m.since()
	for _, step := range []struct {
		what      string
		change    func()
		payload   string
		hints     task.Hints
		unchanged bool
		downloads bool
		writes    bool
		embeds    bool
	}{
		{what: "nothing changed", unchanged: true},
		{what: "metadata changed", payload: `{"filename":"sheet.txt","document_set":"docs","metadata":{"owner":"anna"}}`, unchanged: true},
		{
			what: "the same bytes uploaded again", change: func() { b.Put("sheet.txt", original) }, unchanged: true,
			downloads: true,
		},
		{what: "and then nothing", unchanged: true},
		{
			what: "other bytes, the same text", change: func() { b.Put("sheet.txt", "saved again\n"+original) },
			unchanged: true, downloads: true,
		},
		{what: "and then nothing again", unchanged: true},
		{
			what: "another extractor finds the same", change: func() { reader.version++ }, unchanged: true,
			downloads: true,
		},
		{what: "and then nothing at last", unchanged: true},
		{what: "forced", hints: task.Hints{Force: true}, downloads: true, writes: true},
		{
			what: "the same text on later pages", change: func() { b.Put("sheet.txt", lines(20, 4)) }, downloads: true,
			writes: true,
		},
		{what: "the end cut off", change: func() { b.Put("sheet.txt", lines(19, 4)) }, downloads: true, writes: true},
		{what: "nothing left", change: func() { b.Put("sheet.txt", "empty") }, downloads: true},
		{
			what: "a title", payload: `{"filename":"sheet.txt","document_set":"docs","metadata":{"title":"T"}}`,
			change: func() { b.Put("sheet.txt", original) }, downloads: true, writes: true, embeds: true,
		},
		{
			what: "another model", payload: `{"filename":"sheet.txt","document_set":"docs","metadata":{"title":"T"}}`,
			change: func() { model = "model-b" }, downloads: true, writes: true, embeds: true,
		},
	} {
		if step.change != nil {
			step.change()
		}
		if step.payload == "" {
			step.payload = sheet
		}
		inputs := b.model.Inputs()
		r := b.ingest(step.payload, step.hints)
		embedded := b.model.Inputs() - inputs
		bytes, staged, _ := m.since()
		if r.Unchanged != step.unchanged || (bytes > 0) != step.downloads || (staged > 0) != step.writes ||
			(embedded > 0) != step.embeds {
			t.Errorf("%s: unchanged %t, %d of %d bytes read, %d chunks staged, %d embedded", step.what, r.Unchanged,
				bytes, size, staged, embedded)
		}
		if r.Embedded != embedded || r.Embedded+r.Reused != r.Chunks {
			t.Errorf("%s: it says %d embedded and %d reused of %d, the model got %d", step.what, r.Embedded, r.Reused,
				r.Chunks, embedded)
		}
	}
}

// An answer that is cited after the pages moved cites the new ones.
func TestPagesAreThoseOfTheLastVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *ingest.Deps) { d.Extractor = &paged{} })
	for _, first := range []int{1, 7} {
		b.Put("sheet.txt", lines(10, first))
		b.ingest(sheet, task.Hints{})
		hits, err := b.Store.Search(t.Context(), store.Query{Text: "paragraph 9", Limit: 1})
		if err != nil || len(hits) != 1 || hits[0].Pages[len(hits[0].Pages)-1] != first+4 {
			t.Errorf("from page %d on: %+v, %v", first, hits, err)
		}
	}
}

// Where all of a batch was in the document before, the store is asked nothing about its keys.
func TestKnownKeysAreNotAskedFor(t *testing.T) {
	t.Parallel()
	var m meter
	b := newBench(t, metered(&m))
	b.Put("handbook.md", text(200))
	b.ingest(handbook, task.Hints{})
	m.since()
	b.Put("handbook.md", text(200, 1))
	r := b.ingest(handbook, task.Hints{})
	if _, staged, asked := m.since(); asked != 1 || int(staged) != r.Chunks {
		t.Errorf("%d questions about keys, %d of %d chunks staged", asked, staged, r.Chunks)
	}
}

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
		t.Errorf("removed what was not there: %+v", r)
	}
	if _, err := b.Bucket.Stat(t.Context(), "handbook.md"); err != nil {
		t.Errorf("the sender's blob: %v", err)
	}
	if again := b.ingest(handbook, task.Hints{}); again.Version != 1 || again.Unchanged ||
		again.Embedded != again.Chunks {
		t.Errorf("ingested again: %+v", again)
	}
}

// A purge removes the blobs that were derived of a document, and what services' results are kept under its bytes,
// before its rows; an attempt that ended in between is made again.
func TestPurge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(3))
	first := b.ingest(handbook, task.Hints{})
	const derived, kept = "derived/handbook.md/1.md", "derived/docling/"
	b.Put(derived, "# derived")
	b.Put(kept+first.ContentSHA256, "{}")
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
		}},
	}); err != nil {
		t.Fatal(err)
	}

	c = b.Begin(purge, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); err != nil { // and its worker dies before the commit
		t.Fatal(err)
	}
	for _, name := range []string{derived, kept + first.ContentSHA256} {
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
	if err != nil || r.Removed["derived_contents"] != 1 || r.Kept["derived_blobs"] != 0 {
		t.Errorf("%s, %v", settled.Result, err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "handbook.md"); err != nil {
		t.Errorf("the sender's blob: %v", err)
	}
	if err := b.handler.Check(task.Task{Payload: json.RawMessage(
		`{"filename":"a.md","document_set":"s","purge":true}`)}); err == nil {
		t.Error("a purge without a delete was taken")
	}
}

// A removal waits for an ingest that is under way, and an ingest for a removal: what was asked last is so.
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
			!strings.Contains(failure.Message, "delete and purge are true or false") {
			t.Errorf("delete: %s: %v", value, err)
		}
	}
	b.Put("handbook.md", text(1))
	if r := b.ingest(`{"filename":"handbook.md","document_set":"docs","delete":false}`, task.Hints{}); r.Chunks == 0 {
		t.Errorf("delete: false: %+v", r)
	}
}
