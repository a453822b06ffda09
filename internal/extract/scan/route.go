package scan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

const (
	// defaultDPI is the resolution that OCR engines are made for.
	defaultDPI = 300
	// moreSpots word-sized spots outside of a page's own text may be text.
	moreSpots = 4
)

// router decides on the pages of one PDF and reads those that need it.
type router struct {
	record
	failures failureCounter
	images   pageimage.PDF
	doc      *pages.Document
	started  atomic.Int32 // number of pages given to the engine

	mu     sync.Mutex
	routed map[int]routed // pages being read
}

// routed is a page being read.
type routed struct {
	page      pdf.PageText
	own       assessment
	noReadErr error // errNoEngine or errTooMany if the page is only looked at
}

var _ pdf.Router = (*router)(nil)

func (e *Extractor) newRouter(ctx context.Context, src extract.Source, limits extract.Limits) (*router, error) {
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return nil, fmt.Errorf("find the PDF: %w", err)
	}
	r := &router{
		record: record{reading: e.reading}, failures: failureCounter{Engine: e.engine}, routed: map[int]routed{},
		images: pageimage.PDF{
			Path: path, MaxPixels: e.opts.Pixels,
			Limits: pageimage.ProgramLimits(e.opts.PageTime, limits.ChildBytes, e.opts.Pixels), Pool: limits.Pool,
		},
	}
	options := ""
	if e.engine != nil {
		a := e.engine.Abilities()
		options = fmt.Sprintf("pdf %d dpi %d side %d pixels", a.DPI, a.Side, e.opts.Pixels)
	}
	r.doc = e.open(ctx, &r.failures, path, options, r.render)
	return r, nil
}

// Ahead implements pdf.Router.
func (r *router) Ahead() int { return 2 * r.opts.Budget.Size() }

// Route implements pdf.Router.
func (r *router) Route(ctx context.Context, p pdf.PageText) func() (pdf.Answer, error) {
	own := judge(p)
	if own.need == needNothing || own.need == needLook && r.engine == nil && own.letters >= ownLetters {
		r.note(p.Number, extract.PageDecision{Method: extract.PageNative, Confidence: own.quality, Reason: own.reason})
		return nil
	}
	page := routed{page: p, own: own}
	switch {
	case r.engine == nil:
		page.noReadErr = errNoEngine
	case own.need == needOCR && !r.start():
		page.noReadErr = errTooMany
	}
	r.mu.Lock()
	r.routed[p.Number] = page
	r.mu.Unlock()
	reading := r.doc.Start(p.Number)
	return func() (pdf.Answer, error) {
		text, err := reading.Wait()
		r.mu.Lock()
		delete(r.routed, p.Number)
		r.mu.Unlock()
		if ctx.Err() != nil {
			return pdf.Answer{}, fmt.Errorf("read page %d by OCR: %w", p.Number, context.Cause(ctx))
		}
		if err != nil {
			return r.failed(page, err)
		}
		decision, answer, taken := decide(p, own, text.Clean())
		r.note(p.Number, decision)
		r.took(taken)
		return answer, nil
	}
}

// start reports whether another page may be given to the engine.
func (r *router) start() bool { return int(r.started.Add(1)) <= r.opts.Pages }

// Reasons not to read a page.
var (
	errBlank     = errors.New("there is nothing on the page")
	errExplained = errors.New("there is nothing on the page but its own text")
)

// render draws the page for the engine, unless there is nothing to read on it.
func (r *router) render(ctx context.Context, number int) (ocr.Image, error) {
	r.mu.Lock()
	p := r.routed[number]
	r.mu.Unlock()
	if r.failures.exhausted() {
		return ocr.Image{}, errGivenUp
	}
	img, err := r.draw(ctx, p)
	if err != nil && !errors.Is(err, errBlank) && !errors.Is(err, errExplained) && !errors.Is(err, errTooMany) &&
		p.noReadErr == nil {
		r.failures.note(err)
	}
	return img, err
}

func (r *router) draw(ctx context.Context, p routed) (ocr.Image, error) {
	number, size := p.page.Number, pageimage.About{Width: p.page.Width, Height: p.page.Height}
	if size.Width <= 0 || size.Height <= 0 {
		var err error
		if size, err = r.images.Look(ctx, number, 0); err != nil {
			return ocr.Image{}, err
		}
	}
	if p.own.need == needLook || p.noReadErr != nil {
		img, err := r.images.Render(ctx, number, size, pageimage.LookDPI)
		if err != nil {
			return ocr.Image{}, err
		}
		if pageimage.Blank(img.Gray) {
			return ocr.Image{}, errBlank
		}
		var spots pageimage.Spots
		if p.own.need == needLook {
			spots = pageimage.FindSpots(img.Gray, func(x, y float64) bool { return within(p.page.Words, x, y) })
		}
		switch {
		case p.own.need == needLook && spots.Count < moreSpots:
			return ocr.Image{}, errExplained
		case p.noReadErr != nil:
			return ocr.Image{}, p.noReadErr
		case !r.start():
			return ocr.Image{}, errTooMany
		case p.own.need == needLook:
			return r.drawSpots(ctx, number, size, spots)
		}
	}
	img, err := r.images.Render(ctx, number, size, r.resolution(size))
	if err == nil && pageimage.Blank(img.Gray) {
		err = errBlank
	}
	return img, err
}

const (
	// spotMargin is what is drawn around spots, in fractions of the page: letters may be fainter at their ends.
	spotMargin = 0.02
	// spotHeight is the height in pixels at which engines read a spot well, be it a letter or a word.
	spotHeight = 30
	// leastDPI is enough for large letters.
	leastDPI = 150
)

// drawSpots draws the part of a page around spots, at the resolution that their size needs.
func (r *router) drawSpots(
	ctx context.Context, number int, size pageimage.About, spots pageimage.Spots,
) (ocr.Image, error) {
	b := spots.Around
	part := ocr.Box{
		Left: max(b.Left-spotMargin, 0), Top: max(b.Top-spotMargin, 0),
		Right: min(b.Right+spotMargin, 1), Bottom: min(b.Bottom+spotMargin, 1),
	}
	most := r.resolution(size)
	dpi := min(most, max(leastDPI, int(spotHeight/spots.Height*pageimage.LookDPI)))
	return r.images.RenderPart(ctx, number, size, dpi, part)
}

// resolution returns the resolution that the engine needs for a page.
func (r *router) resolution(size pageimage.About) int {
	const pointsPerInch = 72
	a := r.engine.Abilities()
	switch {
	case a.Side > 0:
		return int(float64(a.Side) * pointsPerInch / max(size.Width, size.Height))
	case a.DPI > 0:
		return a.DPI
	}
	return defaultDPI
}

// failed returns the answer for a page that was not read.
func (r *router) failed(p routed, err error) (pdf.Answer, error) {
	number, own := p.page.Number, p.own
	switch {
	case errors.Is(err, errBlank) && own.letters == 0:
		r.note(number, extract.PageDecision{Method: extract.PageEmpty, Confidence: 1, Reason: reasonBlank})
		return pdf.Answer{}, nil
	case errors.Is(err, errBlank), errors.Is(err, errExplained):
		r.note(number, extract.PageDecision{
			Method: extract.PageNative, Confidence: own.quality, Reason: own.reason + nothingBeside,
		})
		return pdf.Answer{}, nil
	}
	if fault := fault(err); fault != nil {
		return pdf.Answer{}, fault
	}
	if own.letters >= ownLetters {
		r.missed(err)
		r.note(number, extract.PageDecision{
			Method: extract.PageNative, Confidence: own.quality, Reason: own.reason + noOCR,
		})
		return pdf.Answer{}, nil
	}
	r.note(number, extract.PageDecision{Method: extract.PageUnread, Reason: own.reason + noOCR})
	r.skip(number, err)
	return pdf.Answer{Whole: true}, nil
}
