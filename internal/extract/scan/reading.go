package scan

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// reading is what reading pages by OCR has in common, whatever holds them.
type reading struct {
	name   string     // of the extractor of what needs no OCR
	engine ocr.Engine // nil: there is none
	why    string     // there is none
	opts   Options
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

// maxFailures in a row are a fault of the document or the machine: the rest is not tried.
const maxFailures = 5

// patience counts the failures in a row of the pages of one document.
type patience struct {
	ocr.Engine
	failures atomic.Int32
}

// Read implements ocr.Engine.
func (p *patience) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	text, err := p.Engine.Read(ctx, img)
	p.note(err)
	return text, err
}

// note counts what came of a page.
func (p *patience) note(err error) {
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

// over reports whether no more pages are tried.
func (p *patience) over() bool { return p.failures.Load() >= maxFailures }

// open begins with a document. options say how its images are made.
func (r *reading) open(
	ctx context.Context, engine *patience, path, options string, render pages.Render,
) *pages.Document {
	reader := &pages.Reader{
		Engine: engine, Budget: r.opts.Budget, PageTime: r.opts.PageTime, Cache: r.opts.Cache, Options: options,
	}
	if r.engine == nil {
		reader.Cache = nil
	}
	return reader.Open(ctx, pages.FileSource(path), render)
}
