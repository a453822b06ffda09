// Package scan reads the pages of a PDF whose own text is not what a reader sees: scans, pages whose fonts
// don't tell their letters, and scans under the text of a poor scanner. It decides page by page, has those
// pages rendered with poppler and read by an OCR engine, several at a time, and puts what was read where
// the page stands in the document. It also reads image files.
package scan

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// version rises when the same page would give other blocks.
const version = 2

// Options bound what a document may cost. The zero value is fit for use.
type Options struct {
	PageTime time.Duration // for one page, rendering and reading. Default 30 s
	Pages    int           // how many pages of a document are given to OCR at most. Default 1000
	Pixels   int           // of a page's image; larger pages are rendered coarser. Default 20 million: A3 at 300 dpi
	TempDir  string        // where programs get their empty working folders. Default os.TempDir()
	Budget   *pages.Budget // of the process. Default one of its own, of as many pages at a time as there are processors
	Cache    pages.Cache   // nil: none
}

// PDF extracts PDF files, and asks a router about each page.
type PDF interface {
	Name() string
	Version() int
	ExtractRouted(ctx context.Context, src extract.Source, limits extract.Limits, router pdf.Router,
		emit extract.Emit) (extract.Info, error)
}

// Extractor reads PDF files, also with pages that need OCR.
//
// A page needs it when it has no text, or text that can't be what a reader sees: see judge and
// plausibility. A page with little text, such as a stamp, is looked at, and read when there is more on it
// than that; then its own text stays. What OCR read is only taken when it is better than what the file has.
//
// A page that can't be rendered or read is left out, and the document goes on. Info.PageLog has the
// decision on every page. Info.Properties has:
//
//	ocr_pages       how many pages have text that was read by OCR
//	ocr_engine      e.g. "tesseract 5.3.0"
//	ocr_languages   e.g. "eng+deu"
//	ocr_confidence  the engine's mean confidence over their letters, 0-1, e.g. "0.94"
//	unread_pages    how many pages have no text and could not be read, though there is something on them
//	unread_list     which, e.g. "3-7,12"; cut short with "…" when they are very many
//	unread_reason   why (the first reason of several)
type Extractor struct {
	inner PDF
	*reading
}

var _ extract.Extractor = (*Extractor)(nil)

// New decorates the extractor of PDF files.
func New(inner PDF, engine ocr.Engine, opts Options) *Extractor {
	return &Extractor{inner, newReading(inner.Name(), engine, opts)}
}

// Without is New where there is no OCR: pages that would need it are only counted. Why it is missing
// goes into unread_reason.
func Without(inner PDF, why error, opts Options) *Extractor {
	e := New(inner, nil, opts)
	e.why = why.Error()
	return e
}

// Name is e.g. "native/pdf+tesseract:eng" with an engine, and the inner extractor's without: when an
// engine or a language comes or goes, documents are read again.
func (e *Extractor) Name() string {
	if e.engine == nil {
		return e.name
	}
	return e.name + "+" + ocr.Identity(e.engine)
}

// Version rises when the inner extractor's does, or this one's.
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
