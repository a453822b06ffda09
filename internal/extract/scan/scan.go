// Package scan makes the pages of a PDF readable that have no text: they are rendered with poppler and
// read by an OCR engine, one by one, and their paragraphs come out where the page stands in the
// document. It decorates the extractor that reads the other pages.
package scan

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// version rises when the same page would give other blocks.
const version = 1

// Options bound what a document may cost. The zero value is fit for use.
type Options struct {
	PageTime time.Duration // for one page, rendering and reading. Default 30 s
	Pages    int           // how many pages of a document are read by OCR at most. Default 1000
	Pixels   int           // of a page's image; larger pages are rendered coarser. Default 20 million: A3 at 300 dpi
	TempDir  string        // where programs get their empty working folders. Default os.TempDir()
}

// Extractor reads PDF files with pages that are mere images. A page counts as one when the inner
// extractor has no block of it and there is next to no text on it.
//
// A page that can't be rendered or read is left out, and the document goes on. Info.Properties tells:
//
//	ocr_pages       how many pages were read by OCR and have text
//	ocr_engine      e.g. "tesseract 5.3.0"
//	ocr_languages   e.g. "eng+deu"
//	ocr_confidence  the engine's mean confidence over their letters, 0-1, e.g. "0.94"
//	unread_pages    how many pages have no text and could not be read, though there is something on them
//	unread_list     which, e.g. "3-7,12"; cut short with "…" when they are very many
//	unread_reason   why (the first reason of several)
type Extractor struct {
	inner  extract.Extractor
	engine ocr.Engine
	why    string // there is no engine
	opts   Options
}

var _ extract.Extractor = (*Extractor)(nil)

// New decorates the extractor of PDF files.
func New(inner extract.Extractor, engine ocr.Engine, opts Options) *Extractor {
	return &Extractor{inner: inner, engine: engine, opts: opts.withDefaults()}
}

// Without is New where there is no OCR: pages that would need it are only counted. Why it is missing
// goes into unread_reason.
func Without(inner extract.Extractor, why error, opts Options) *Extractor {
	return &Extractor{inner: inner, why: why.Error(), opts: opts.withDefaults()}
}

func (o Options) withDefaults() Options {
	if o.PageTime <= 0 {
		o.PageTime = 30 * time.Second
	}
	if o.Pages <= 0 {
		o.Pages = 1000
	}
	if o.Pixels <= 0 {
		o.Pixels = 20_000_000
	}
	return o
}

// Name is e.g. "native/pdf+tesseract:eng" with an engine, and the inner extractor's without: when an
// engine or a language comes or goes, documents are read anew.
func (e *Extractor) Name() string {
	if e.engine == nil {
		return e.inner.Name()
	}
	return e.inner.Name() + "+" + ocr.Identity(e.engine)
}

// by is what Info.Extractor says when OCR was needed.
func (e *Extractor) by() string { return e.inner.Name() + "+" + e.engine.Name() }

// Version rises when the inner extractor's does, or this one's.
func (e *Extractor) Version() int {
	if e.engine == nil {
		return e.inner.Version()
	}
	return 100*version + e.inner.Version()
}

// Extract implements extract.Extractor.
func (e *Extractor) Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error) {
	limits = limits.WithDefaults()
	reader, err := e.newReader(src, limits)
	if err != nil {
		return extract.Info{}, err
	}
	next := 1 // the first page of which nothing is known yet
	info, err := e.inner.Extract(ctx, src, limits, func(b extract.Block) error {
		for ; next < b.Page; next++ {
			if err := reader.page(ctx, next, emit); err != nil {
				return err
			}
		}
		next = max(next, b.Page+1)
		return emit(b)
	})
	if err != nil {
		return info, err
	}
	for ; next <= info.Pages; next++ {
		if err := reader.page(ctx, next, emit); err != nil {
			return info, err
		}
	}
	reader.report(&info)
	return info, nil
}

// errPageTime is the cause of a page's context that ran out.
var errPageTime = errors.New("it took too long")
