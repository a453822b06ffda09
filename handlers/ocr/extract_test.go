package ocr_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// reader is an extractor whose answer a test decides.
type reader struct {
	blocks []extract.Block
	info   extract.Info

	source extract.Source // of the last call
}

func (*reader) Version(extract.Format) string { return "docling@1" }

func (r *reader) Extract(
	_ context.Context, src extract.Source, _ extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	r.source = src
	for _, b := range r.blocks {
		if err := emit(b); err != nil {
			return extract.Info{}, err
		}
	}
	return r.info, nil
}

// reads returns a handler whose extractor is r, and a document for it.
func reads(t *testing.T, r *reader) *bench {
	t.Helper()
	b := newBench(t, &fake{}, func(d *handler.Deps) { d.Extractor = r })
	b.Put("a.txt", "A text.")
	return b
}

func on(page int, text string) extract.Block {
	return extract.Block{Kind: extract.Paragraph, Text: text, Page: page}
}

// What an extractor could not read is among the warnings of the task.
func TestWarningsOfTheExtractor(t *testing.T) {
	t.Parallel()
	const missed, none = "1 attachments or parts could not be read: x.bin (damaged)", "the document has no text"
	for name, tt := range map[string]struct {
		reader reader
		want   []string
	}{
		"none":    {reader{blocks: []extract.Block{on(0, "Text.")}}, nil},
		"some":    {reader{blocks: []extract.Block{on(0, "Text.")}, info: extract.Info{Warnings: []string{missed}}}, []string{missed}},
		"no text": {reader{info: extract.Info{Warnings: []string{extract.NoText}}}, []string{none}},
		"nothing": {reader{info: extract.Info{Warnings: []string{missed}}}, []string{missed, none}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := reads(t, &tt.reader).do(`{"filename":"a.txt"}`, task.Hints{}); !slices.Equal(r.Warnings, tt.want) {
				t.Errorf("got %q, want %q", r.Warnings, tt.want)
			}
		})
	}
}

// An extractor that pays for its work is told what an earlier attempt has paid for, and whether to do it again.
func TestExtractorKnowsTheTask(t *testing.T) {
	t.Parallel()
	r := &reader{blocks: []extract.Block{on(0, "Text.")}}
	b := reads(t, r)
	for _, force := range []bool{false, true} {
		c := b.Begin(`{"filename":"a.txt"}`, task.Hints{Force: force})
		c.Checkpoint = json.RawMessage(`{"extract":"a conversion"}`)
		if _, err := b.handler.Handle(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var paid string
		if src := r.source; src.Fresh != force || src.SHA256 == "" || src.Memory == nil || !src.Memory.Load(&paid) || paid != "a conversion" {
			t.Errorf("force %v: %+v", force, src)
		}
	}
}

// What was read while docling was down is not reused when it is back.
func TestFallbackIsNotReused(t *testing.T) {
	t.Parallel()
	r := &reader{blocks: []extract.Block{on(0, "Natively.")}, info: extract.Info{Extractor: "native/text", Fallback: true}}
	b := reads(t, r)
	const payload = `{"filename":"a.txt"}`
	if down := b.do(payload, task.Hints{}); down.Reused || down.OCREngine != "native/text" {
		t.Errorf("down: %+v", down)
	}
	r.blocks, r.info = []extract.Block{on(0, "By docling.")}, extract.Info{Extractor: "docling"}
	back := b.do(payload, task.Hints{})
	if got := b.Get(back.DerivedBlob); back.Reused || back.OCREngine != "docling" || !strings.Contains(got, "By docling.") {
		t.Errorf("back: %q, %+v", got, back)
	}
	if again := b.do(payload, task.Hints{}); !again.Reused || again.DerivedBlob != back.DerivedBlob {
		t.Errorf("again: %+v", again)
	}
}

// What was read only in part is not reused.
func TestPartIsNotReused(t *testing.T) {
	t.Parallel()
	r := &reader{blocks: []extract.Block{on(1, "One.")}, info: extract.Info{Pages: 2, Incomplete: true}}
	b := reads(t, r)
	const payload = `{"filename":"a.txt"}`
	part := b.do(payload, task.Hints{})
	r.blocks, r.info = []extract.Block{on(1, "One."), on(2, "Two.")}, extract.Info{Pages: 2}
	all := b.do(payload, task.Hints{})
	if got := b.Get(all.DerivedBlob); part.Reused || all.Reused || !strings.Contains(got, "Two.") {
		t.Errorf("%q, %+v", got, all)
	}
}

// A file within a document has no page: its text belongs to the page before it, and opens no page again.
func TestFilesWithinPages(t *testing.T) {
	t.Parallel()
	b := reads(t, &reader{
		blocks: []extract.Block{on(0, "Before."), on(1, "One."), on(2, "Two."), on(0, "Within."), on(3, "Three."), on(0, "Last.")},
		info:   extract.Info{Pages: 3},
	})
	for pages, want := range map[string]string{
		"":  "<!-- page 1 -->\n\nBefore.\n\nOne.\n\n<!-- page 2 -->\n\nTwo.\n\nWithin.\n\n<!-- page 3 -->\n\nThree.\n\nLast.\n",
		"1": "<!-- page 1 -->\n\nBefore.\n\nOne.\n",
		"2": "<!-- page 2 -->\n\nTwo.\n\nWithin.\n",
	} {
		r := b.do(`{"filename":"a.txt","pages":"`+pages+`"}`, task.Hints{})
		if got := b.Get(r.DerivedBlob); got != want || r.PageCount != strings.Count(want, "<!--") {
			t.Errorf("pages %q: got %q, %+v", pages, got, r)
		}
	}
	r := b.do(`{"filename":"a.txt"}`, task.Hints{OutputFormat: "hocr"})
	ids := regexp.MustCompile(` id="[^"]*"`).FindAllString(b.Get(r.DerivedBlob), -1)
	slices.Sort(ids)
	if unique := slices.Compact(slices.Clone(ids)); len(ids) < 9 || len(unique) != len(ids) {
		t.Errorf("ids in hOCR %q", ids)
	}
}
