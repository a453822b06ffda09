// Package scan reads the pages of a PDF whose own text is not what a reader sees: scans, pages whose fonts
// don't identify their letters, and scans under a poor OCR text layer. It decides page by page, renders
// those pages with poppler, has several at a time read by an OCR engine, and puts the result in the page's
// place in the document. It also reads image files.
package scan

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// version increases when the same page would produce other blocks.
const version = 6

// Options limit the cost of a document. The zero value is ready to use.
type Options struct {
	PageTime time.Duration // for rendering and reading one page. Default 30 s
	Pages    int           // maximum pages of a document for OCR. Default 1000
	Pixels   int           // of a page image; larger pages are rendered coarser. Default 20 million: A3 at 300 dpi
	TempDir  string        // for empty working folders of programs. Default os.TempDir()
	Budget   *pages.Budget // of the process. Default a new one, of one page per processor
	Cache    pages.Cache   // nil: none
}

// PDF extracts PDF files with a router that is called for each page.
type PDF interface {
	Name() string
	Version() int
	ExtractRouted(ctx context.Context, src extract.Source, limits extract.Limits, router pdf.Router,
		emit extract.Emit) (extract.Info, error)
}

// Extractor reads PDF files, including pages that need OCR.
//
// A page needs OCR if it has no text, or text that can't be what a reader sees: see judge and plausibility. A
// page with little text, such as a stamp, is examined and read if it shows more than that; its own text then
// stays. So is a page that is a picture with more text in small print, such as the note of an electronic
// signature. The result of OCR is only used if it is better than the file's text.
//
// A page that can't be rendered or read is left out, and the document continues. Info.PageLog has the decision
// on every page. Info.Properties has:
//
//	ocr_pages       how many pages have text that was read by OCR
//	ocr_engine      e.g. "tesseract 5.3.0"
//	ocr_languages   e.g. "eng+deu"
//	ocr_confidence  the engine's mean confidence over their letters, 0-1, e.g. "0.94"
//	unread_pages    how many pages have no text and could not be read, though there is something on them
//	unread_list     which, e.g. "3-7,12"; a long list is truncated with "…"
//	unread_reason   the first reason, or that the task had no tokens left, which also names what to do
//
// Info.Incomplete reports that a page took too long, the machine was short of memory for it, a service read a part of it, or
// the task had no tokens left. Info.Warnings counts the pages that another engine read than the configured one.
type Extractor struct {
	inner PDF
	*reading
}

var _ extract.Extractor = (*Extractor)(nil)

// New returns an Extractor that wraps the extractor of PDF files.
func New(inner PDF, engine ocr.Engine, opts Options) *Extractor {
	return &Extractor{inner, newReading(inner.Name(), engine, opts)}
}

// Without is New for a worker without OCR: pages that would need it are only counted. reason goes
// into unread_reason.
func Without(inner PDF, reason error, opts Options) *Extractor {
	e := New(inner, nil, opts)
	e.noEngineReason = reason.Error()
	return e
}

// Name is for example "native/pdf+tesseract:eng" with an engine, and the inner extractor's without. When an
// engine or a language is added or removed, documents are read again.
func (e *Extractor) Name() string {
	if e.engine == nil {
		return e.name
	}
	return e.name + "+" + ocr.Identity(e.engine)
}

// Version increases when the inner extractor's does, or this one's.
func (e *Extractor) Version() int {
	if e.engine == nil {
		return e.inner.Version()
	}
	return 100*version + e.inner.Version()
}

// Extract implements extract.Extractor.
func (e *Extractor) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	limits = limits.WithDefaults()
	r, err := e.newRouter(ctx, src, limits)
	if err != nil {
		return extract.Info{}, err
	}
	defer r.doc.Close()
	info, err := e.inner.ExtractRouted(ctx, src, limits, r, emit)
	if err != nil {
		return info, err
	}
	r.report(&info)
	return info, nil
}
