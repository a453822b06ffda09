package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const dimensions = 32

// bench is a handler of ingest tasks with a fake model.
type bench struct {
	*handlertest.Bench
	model   *llmtest.Server
	handler *ingest.Handler
	deps    ingest.Deps
}

func newBench(t *testing.T, edit ...func(*ingest.Deps)) *bench {
	t.Helper()
	b := &bench{
		Bench: handlertest.New(t, task.Ingest, dimensions),
		model: llmtest.New(t, llmtest.Options{Dimensions: dimensions}),
	}
	embedder, err := openai.New(openai.Config{
		BaseURL: b.model.URL(), APIKey: llmtest.Key, Dimensions: dimensions, HTTPClient: b.model.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	limits := extract.DefaultLimits
	limits.Bytes = 1 << 20
	b.deps = ingest.Deps{
		Bucket: b.Bucket, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)), Documents: b.Store,
		Embedder: embedder, Counter: token.New(), Limits: limits, TempDir: b.Temp, Sources: b.Store,
	}
	b.rebuild(edit...)
	return b
}

// rebuild replaces the handler by one with the current settings.
func (b *bench) rebuild(edit ...func(*ingest.Deps)) {
	for _, e := range edit {
		e(&b.deps)
	}
	b.handler = ingest.New(b.deps)
}

// result is the result in a webhook.
type result struct {
	ingest.Result
	Version int `json:"version"`
}

// ingest runs a task to its end, like the engine.
func (b *bench) ingest(payload string, hints task.Hints) result {
	b.Helper()
	c := b.Begin(payload, hints)
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	return b.complete(c, out)
}

func (b *bench) complete(c handlers.Call, out handlers.Outcome) (r result) {
	b.Helper()
	b.Complete(c, out, &r)
	return r
}

const handbook = `{"filename":"handbook.md","document_set":"docs"}`

// text returns a document of n sections, each in its own chunk.
func text(n int, changed ...int) string {
	var s strings.Builder
	for i := range n {
		word := "plain"
		for _, c := range changed {
			if c == i {
				word = "edited"
			}
		}
		fmt.Fprintf(&s, "# Section %d\n\n", i)
		for j := range 12 {
			fmt.Fprintf(&s, "Sentence %d of section %d says something %s about harbours, cranes and tides. ", j, i,
				word)
		}
		s.WriteString("\n\n")
	}
	return s.String()
}

func TestFirstVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(100))
	r := b.ingest(handbook, task.Hints{})
	if r.Version != 1 || r.Chunks < 100 || r.Embedded != r.Chunks || r.Reused != 0 || r.Unchanged ||
		r.Extractor != "native/markdown" {
		t.Errorf("result %+v", r)
	}
	hits, err := b.Store.Search(t.Context(), store.Query{
		Text: "section 42", Embedding: make([]float32, dimensions), Limit: 3,
	})
	if err != nil || len(hits) == 0 || hits[0].HeadingPath[0] != "Section 42" {
		t.Errorf("found %+v, %v", hits, err)
	}
}

// The same bytes through the same pipeline cost no model call.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(5))
	first := b.ingest(handbook, task.Hints{})
	calls := b.model.Requests()
	again := b.ingest(handbook, task.Hints{})
	if !again.Unchanged || again.Version != 1 || again.Chunks != first.Chunks || b.model.Requests() != calls {
		t.Errorf("result %+v after %d model calls", again, b.model.Requests()-calls)
	}
	forced := b.ingest(handbook, task.Hints{Force: true})
	if forced.Unchanged || forced.Version == 1 || forced.Reused != forced.Chunks || b.model.Requests() != calls {
		t.Errorf("forced: %+v after %d model calls; want a new version of known chunks", forced,
			b.model.Requests()-calls)
	}
}

// A document without text gets the warning each time it is ingested.
func TestUnchangedAndEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", "\n")
	for _, unchanged := range []bool{false, true} {
		if r := b.ingest(handbook, task.Hints{}); r.Chunks != 0 || r.Unchanged != unchanged || len(r.Warnings) != 1 {
			t.Errorf("result %+v", r)
		}
	}
}

// A changed document costs only its changes.
func TestChangedDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(60))
	first := b.ingest(handbook, task.Hints{})
	b.Put("handbook.md", text(60, 30))
	second := b.ingest(handbook, task.Hints{})
	if second.Version != 2 || second.Embedded == 0 || second.Embedded > 3 ||
		second.Embedded+second.Reused != second.Chunks {
		t.Errorf("first %+v, second %+v", first, second)
	}
	b.Put("copy.md", text(60, 30))
	if other := b.ingest(`{"filename":"copy.md","document_set":"others"}`, task.Hints{}); other.Embedded != 0 {
		t.Errorf("a copy in another set was embedded again: %+v", other)
	}
}

// Equal chunks within one document are embedded once.
func TestRepeatedText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", strings.Repeat(
		"# The same\n\nThe same text under the same heading, again and again, word by word.\n\n", 30))
	if r := b.ingest(handbook, task.Hints{}); r.Embedded != 1 || r.Embedded+r.Reused != r.Chunks {
		t.Errorf("result %+v", r)
	}
}

// rows returns the place of each chunk's row in its table, which changes when it is written again.
func (b *bench) rows() string {
	b.Helper()
	return handlertest.Query[string](b.Bench,
		"select string_agg(ctid::text, ' ' order by document_id, version, position) from document_chunks")
}

// Chunks that a lost attempt has staged are not paid for again and counted once. It leaves nothing else behind.
func TestSecondAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(30))
	first := b.Begin(handbook, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), first); err != nil { // the worker dies before the commit
		t.Fatal(err)
	}
	inputs, rows := b.model.Inputs(), b.rows()
	if _, err := b.Store.Release(t.Context(), store.Release{Holder: first.Holder}); err != nil {
		t.Fatal(err)
	}
	b.Job.Worker = "w2"
	second := b.BeginAs(first.Task.ID, task.Ingest, handbook, task.Hints{})
	out, err := b.handler.Handle(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.rows(); got != rows {
		t.Errorf("staged chunks were written again:\n%s\n%s", rows, got)
	}
	if r := b.complete(second, out); r.Version != 1 || r.Embedded != r.Chunks || r.Reused != 0 ||
		b.model.Inputs() != inputs {
		t.Errorf("result %+v, %d inputs more", r, b.model.Inputs()-inputs)
	}
	if _, err := b.Store.Complete(t.Context(), store.Completion{
		Holder: first.Holder,
		Result: json.RawMessage("{}"),
	}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the lost attempt could commit: %v", err)
	}
}

// While one job works on a document, another one waits.
func TestBusyDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(3))
	if _, err := b.handler.Handle(t.Context(), b.Begin(handbook, task.Hints{})); err != nil {
		t.Fatal(err)
	}
	_, err := b.handler.Handle(t.Context(), b.Begin(handbook, task.Hints{}))
	if busy, ok := errors.AsType[*store.BusyError](err); !ok || busy.RetryAfter <= 0 {
		t.Errorf("got %v, want a BusyError", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("large.md", strings.Repeat("x", 1<<20+1))
	b.Put("program", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00")
	b.Put("fine.md", "# Fine\n\nA text.")
	for name, c := range map[string]struct {
		payload string
		prepare func()
		class   taskerr.Class
	}{
		"no such blob": {`{"filename":"absent.pdf","document_set":"d"}`, nil, taskerr.ContentMissing},
		"too large":    {`{"filename":"large.md","document_set":"d"}`, nil, taskerr.QuotaExceeded},
		"not readable": {`{"filename":"program","document_set":"d"}`, nil, taskerr.UnsupportedFormat},
		"no credit": {
			`{"filename":"fine.md","document_set":"d"}`, func() { b.model.Script(llmtest.NoQuota) },
			taskerr.QuotaExceeded,
		},
		"outside":       {`{"filename":"x.md","blob":"../x.md","document_set":"d"}`, nil, taskerr.ValidationError},
		"no set":        {`{"filename":"x.md"}`, nil, taskerr.ValidationError},
		"wrong type":    {`{"filename":7,"document_set":"d"}`, nil, taskerr.ValidationError},
		"metadata list": {`{"filename":"x.md","document_set":"d","metadata":[1]}`, nil, taskerr.ValidationError},
	} {
		if c.prepare != nil {
			c.prepare()
		}
		_, err := b.handler.Handle(t.Context(), b.Begin(c.payload, task.Hints{}))
		if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Class != c.class {
			t.Errorf("%s: got %v, want %s", name, err, c.class)
		}
	}
	b.CheckTemp()
}

// A stopped handler returns the cause and leaves nothing behind.
func TestStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", text(200))
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.model.Script(llmtest.Fault{Hang: true, Before: func() { cancel(reason) }})
	_, err := b.handler.Handle(ctx, b.Begin(handbook, task.Hints{}))
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause", err)
	}
	b.CheckTemp()
}
