package ingest_test

import (
	"context"
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
)

// meter counts the use of the bucket and the store.
type meter struct {
	blob.Bucket
	store.Documents
	bytes, staged, asked atomic.Int64 // bytes read of blobs, chunks staged, queries for keys
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

// since returns the counts and resets them.
func (m *meter) since() (bytes, staged, asked int64) {
	return m.bytes.Swap(0), m.staged.Swap(0), m.asked.Swap(0)
}

// paged reads lines of the form "page|text", each a paragraph on its page.
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

// renamed is a model with another name.
type renamed struct {
	llm.Embedder
	name *string
}

func (r renamed) Model() string { return *r.name }

// lines returns n paragraphs from a page on, two on each page and each long enough for a chunk.
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

// Each gate stops what it can: an equal ETag the download, equal bytes the extraction, an equal text the writes.
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
		{what: "without metadata it stays", unchanged: true},
		{
			what: "other text without metadata", change: func() { b.Put("sheet.txt", lines(19, 1)) }, downloads: true, writes: true,
		},
		{
			what: "no metadata any more", payload: `{"filename":"sheet.txt","document_set":"docs","metadata":{}}`,
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
			t.Errorf("%s: the result has %d embedded and %d reused of %d, the model got %d", step.what, r.Embedded, r.Reused,
				r.Chunks, embedded)
		}
	}
}

// Citations have the pages of the latest version.
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

// The store gets no query for the keys of a batch that the document already had.
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
		t.Errorf("%d queries for keys, %d of %d chunks staged", asked, staged, r.Chunks)
	}
}
