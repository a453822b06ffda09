package xml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestCheckedByAPart: a document that was read in part is checked by the last attempt only, with a warning, and no other
// task gets that check. What is paid for is kept.
func TestCheckedByAPart(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.deps.Extractor = &parts{Extractor: b.deps.Extractor, left: 2, info: extract.Info{
		Pages: 2, Incomplete: true, Properties: map[string]string{
			"unread_pages": "1", "unread_list": "2", "unread_reason": "a page took longer than 30s",
		},
	}}
	c := b.Begin(payloadOf(inChecked), task.Hints{})
	_, err := xml.New(b.deps).Handle(t.Context(), c)
	if e := taskerr.Classify(err); e.Class != taskerr.TransientStorage || !strings.Contains(e.Message, "1 of 2 pages") ||
		len(b.model.asked) > 0 {
		t.Errorf("the first attempt: %v, %d questions", err, len(b.model.asked))
	}
	c.Last = true
	if r := b.finish(c); !r.Review || !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "1 of 2 pages")
	}) {
		t.Errorf("the last attempt: %+v", r)
	}
	if r := b.do(payloadOf(inChecked)); r.Review || r.Source != xml.ByGateway || len(r.Warnings) > 0 {
		t.Errorf("another task: %+v", r)
	}
	b.calls(2, "two tasks")
}

// TestCheckedByAnother: what another extractor has read, as a service is down, is checked at once.
func TestCheckedByAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	const down = "docling-serve is down; the document was read by native/pdf instead"
	b.deps.Extractor = &parts{Extractor: b.deps.Extractor, left: 1, info: extract.Info{
		Pages: 2, Fallback: true, Warnings: []string{down},
	}}
	if r := b.do(payloadOf(inChecked)); !r.Review || !slices.Contains(r.Warnings, down) {
		t.Errorf("by another extractor: %+v", r)
	}
	if r := b.do(payloadOf(inChecked)); r.Review || len(r.Warnings) > 0 {
		t.Errorf("by the extractor: %+v", r)
	}
}

// TestCheckedWithoutOCR: pages that this worker can't read are named, the rest is checked at once, and no other task gets
// that check.
func TestCheckedWithoutOCR(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.deps.Extractor = &parts{Extractor: b.deps.Extractor, left: 1, info: extract.Info{
		Pages: 2, Properties: map[string]string{
			"unread_pages": "1", "unread_list": "2", "unread_reason": "tesseract is not installed",
		},
	}}
	if r := b.do(payloadOf(inChecked)); !r.Review || !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "1 of 2 pages") && strings.Contains(w, "tesseract is not installed")
	}) {
		t.Errorf("without OCR: %+v", r)
	}
	if r := b.do(payloadOf(inChecked)); r.Review || r.Source != xml.ByGateway || len(r.Warnings) > 0 {
		t.Errorf("with OCR: %+v", r)
	}
	b.calls(2, "two tasks")
}
