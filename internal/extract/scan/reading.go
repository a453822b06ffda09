package scan

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// reading is the common part of reading pages by OCR, for PDF and image files.
type reading struct {
	name           string     // of the extractor for files that need no OCR
	engine         ocr.Engine // nil: no OCR
	noEngineReason string     // reason that there is no engine
	opts           Options
}

func newReading(name string, engine ocr.Engine, opts Options) *reading {
	if opts.PageTime <= 0 {
		opts.PageTime = 30 * time.Second
	}
	if opts.Pages <= 0 {
		opts.Pages = 1000
	}
	if opts.Pixels <= 0 {
		opts.Pixels = 20_000_000
	}
	if opts.Budget == nil {
		opts.Budget = pages.NewBudget(0)
	}
	return &reading{name: name, engine: engine, opts: opts}
}

// maxFailures in a row are a fault of the document or the machine; the remaining pages are not tried.
const maxFailures = 5

// failureCounter counts consecutive failures on the pages of one document.
type failureCounter struct {
	ocr.Engine
	failures atomic.Int32
}

// Read implements ocr.Engine.
func (p *failureCounter) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	text, err := p.Engine.Read(ctx, img)
	p.note(err)
	return text, err
}

// note records the result of a page.
func (p *failureCounter) note(err error) {
	_, gone := errors.AsType[*ocr.UnavailableError](err)
	switch {
	case err == nil:
		p.failures.Store(0)
	case gone:
		p.failures.Store(maxFailures) // no other page can be read either
	default:
		p.failures.Add(1)
	}
}

// exhausted reports whether no more pages are tried.
func (p *failureCounter) exhausted() bool { return p.failures.Load() >= maxFailures }

// open starts a document. options describe how its images are made.
func (r *reading) open(
	ctx context.Context, engine *failureCounter, path, options string, render pages.Render,
) *pages.Document {
	reader := &pages.Reader{
		Engine: engine, Budget: r.opts.Budget, PageTime: r.opts.PageTime, Cache: r.opts.Cache, Options: options,
	}
	if r.engine == nil {
		reader.Cache = nil
	}
	return reader.Open(ctx, pages.FileSource(path), render)
}
