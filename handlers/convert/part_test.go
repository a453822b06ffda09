package convert_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// putMixed puts a PDF with a page of text and an image of one.
func putMixed(b *handlertest.Bench) {
	b.Helper()
	content, err := os.ReadFile(ocrtest.Write(b, ocrtest.Page{Lines: []string{
		"The harbour has nine berths, of which five are in the North Basin", "and four in the South Basin, where the boats lie.",
	}}, ocrtest.Page{Image: ocrtest.Scan(b, 0, "A tenth berth is being built").Gray}))
	if err != nil {
		b.Fatal(err)
	}
	b.Put("mixed.pdf", string(content))
}

// TestUnreadPages: the deck names the pages that this worker can't read.
func TestUnreadPages(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	putMixed(b)
	r, _ := converted(b, deps(b), `{"filename":"mixed.pdf"}`)
	want := "1 of 2 pages have no text and could not be read by OCR (" + errNoOCR.Error() + "): page 2"
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
}

// hasty gives up on pages for lack of time.
type hasty struct{ convert.Extractor }

func (h hasty) Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error) {
	info, err := h.Extractor.Extract(ctx, src, limits, emit)
	info.Incomplete = true
	src.Memory.Save("the part")
	return info, err
}

// TestReadInPart: a document that was read in part becomes a deck in the last attempt only, with a warning, and before that
// the model is not asked.
func TestReadInPart(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	putMixed(b)
	m := &writer{reply: parrot}
	d := modelled(b, m)
	d.Extractor = hasty{d.Extractor}
	call := b.Begin(`{"filename":"mixed.pdf"}`, task.Hints{})
	_, err := convert.New(d).Handle(t.Context(), call)
	e := taskerr.Classify(err)
	if err == nil || e.Class != taskerr.TransientStorage || !strings.Contains(e.Message, "1 of 2 pages") || e.Hint == "" ||
		len(m.asked) > 0 {
		t.Fatalf("the first attempt: %v, %d questions", err, len(m.asked))
	}
	if note := string(call.Progress.(*handlertest.Progress).Pending); strings.Contains(note, "the part") {
		t.Errorf("the next attempt would have the same part: %s", note)
	}
	call.Last = true
	out, err := convert.New(d).Handle(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	var r convert.Result
	b.Complete(call, out, &r)
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "1 of 2 pages") }) {
		t.Errorf("the last attempt: %q", r.Warnings)
	}
}
