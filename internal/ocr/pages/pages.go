// Package pages reads the pages of a document with an OCR engine: several at a time within a budget that all
// documents share, each within a time limit, and each only once if there is a cache.
package pages

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// version increases when the same page image would produce another reading; older ones in a cache are then
// ignored.
const version = 1

// Budget limits how many pages are rendered and read at the same time, over all documents that share it.
type Budget struct{ slots chan struct{} }

// NewBudget returns a budget of n pages at a time. For n ≤ 0 it is GOMAXPROCS.
func NewBudget(n int) *Budget {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return &Budget{make(chan struct{}, n)}
}

// Size returns how many pages it allows at a time.
func (b *Budget) Size() int { return cap(b.slots) }

func (b *Budget) take(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for a processor: %w", context.Cause(ctx))
	}
}

func (b *Budget) give() { <-b.slots }

// Reader reads documents. It is safe for concurrent use.
type Reader struct {
	Engine ocr.Engine
	Budget *Budget
	// PageTime is for rendering and reading one page. The waits for the budget, for memory and for a model's rate limit don't
	// count (retry.Waiting): they say nothing about the page. Zero: unlimited.
	PageTime time.Duration
	Cache    Cache // nil: none
	// Options describe how page images are made, for example "300 dpi"; a cache keeps readings apart by them.
	Options string
}

// id names everything that determines the reading of a page image.
func (r *Reader) id() string {
	e := r.Engine
	parts := []string{e.Name(), e.Version(), strings.Join(e.Languages(), "+"), r.Options, fmt.Sprintf("v%d", version)}
	if e.Abilities().Straight {
		parts = append(parts, "straight")
	}
	if e.Abilities().Tables {
		parts = append(parts, "tables")
	}
	return strings.Join(parts, "|")
}

// Render makes the image of a page. Its error becomes that of the page's reading.
type Render func(ctx context.Context, number int) (ocr.Image, error)

// Document is one document being read.
type Document struct {
	reader *Reader
	render Render
	ctx    context.Context //nolint:containedctx // it lives as long as the document is open
	cancel context.CancelCauseFunc
	known  *readings // nil: no cache
	all    sync.WaitGroup

	mu   sync.Mutex
	last chan struct{} // closed when the page that was started last has passed its wait for the budget
}

// errClosed ends work whose result is no longer needed.
var errClosed = errors.New("the document was closed")

// Open starts a document. source returns the SHA-256 of its bytes in hex, for the cache; it is called at most
// once, and if it fails there is no caching. Close must be called.
func (r *Reader) Open(ctx context.Context, source func() (string, error), render Render) *Document {
	d := &Document{reader: r, render: render}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	if r.Cache != nil {
		d.known = &readings{cache: r.Cache, source: sync.OnceValues(source), reader: r.id()}
	}
	return d
}

// Close cancels the pages being read and waits for them.
func (d *Document) Close() {
	d.cancel(errClosed)
	d.all.Wait()
}

// Reading is the reading of a page that was started.
type Reading struct {
	done chan struct{}
	page ocr.Page
	err  error
}

// Start starts to read a page, from 1, as soon as the budget allows, in the order of the calls. However many
// pages are started, only those within the budget have an image in memory.
func (d *Document) Start(number int) *Reading {
	r := &Reading{done: make(chan struct{})}
	started := make(chan struct{})
	d.mu.Lock()
	before := d.last
	d.last = started
	d.mu.Unlock()
	d.all.Go(func() {
		defer close(r.done)
		admitted := sync.OnceFunc(func() { close(started) })
		defer admitted()
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("read page %d by OCR: panic: %v\n%s", number, p, debug.Stack())
			}
		}()
		r.page, r.err = d.read(number, before, admitted)
	})
	return r
}

// Wait returns the reading. The error is the renderer's or the engine's, wraps ocr.ErrPageTime, or wraps the cause
// of the end of the document's context.
func (r *Reading) Wait() (ocr.Page, error) {
	<-r.done
	return r.page, r.err
}

// read reads a page once `before` is closed, and calls admitted when the next one may.
func (d *Document) read(number int, before <-chan struct{}, admitted func()) (ocr.Page, error) {
	p, ok := d.known.get(d.ctx, number)
	if before != nil {
		<-before // closed at the latest when the document's context ends
	}
	if ok {
		ocr.Spend(d.ctx, p.Usage)
		return p, nil
	}
	if err := d.reader.Budget.take(d.ctx); err != nil {
		return ocr.Page{}, err
	}
	admitted()
	defer d.reader.Budget.give()
	ctx := d.ctx
	if t := d.reader.PageTime; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = retry.WithLimit(ctx, t, ocr.ErrPageTime)
		defer cancel()
	}
	img, err := d.render(ctx, number)
	if err != nil {
		return ocr.Page{}, err
	}
	if p, err = d.reader.Engine.Read(ctx, img); err != nil {
		return ocr.Page{}, err
	}
	p = p.On(img).Rounded()
	if !p.Partial {
		d.known.put(d.ctx, number, p)
	}
	return p, nil
}

// Each reads the pages in parallel and yields them in order. It reads ahead of the yielded page by at most
// twice the budget. An error of yield stops it; a page's error is yielded.
func (d *Document) Each(numbers []int, yield func(number int, p ocr.Page, err error) error) error {
	ahead := 2 * d.reader.Budget.Size()
	started := make([]*Reading, 0, min(ahead, len(numbers)))
	for i, number := range numbers {
		for next := i + len(started); next < len(numbers) && len(started) < ahead; next++ {
			started = append(started, d.Start(numbers[next]))
		}
		p, err := started[0].Wait()
		started = append(started[:0], started[1:]...)
		if err := yield(number, p, err); err != nil {
			return err
		}
	}
	return nil
}
