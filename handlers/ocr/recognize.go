package ocr

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/derived"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/extract/reading"
	engines "github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// coarser is the resolution of a page's second try: with fewer pixels, an engine needs less time and memory, and a
	// model loops less over fine print.
	coarser = 0.6
	// maxFailures in a row mean a fault of the document or the machine: the other pages are not tried.
	maxFailures = 5
)

var errGivenUp = errors.New("too many pages before failed")

// recognition is the reading of one document's pages.
type recognition struct {
	*work
	images  *pageimage.File
	numbers []int
	out     derived.Writer

	done, blocks int
	failures     int // in a row
	unread       []int
	reason       string // of the first unread page
	first        error  // of the first unread page
	others       engines.Others
	letters      float64 // with a confidence
	confidence   float64 // sum over the letters
	usage        engines.Usage
	limited      int // pages whose images could not be as large as the task asks for
}

// skipBlank skips blank pages: engines need most time for them, and models invent text.
type skipBlank struct{ engines.Engine }

// Read implements ocr.Engine.
func (e skipBlank) Read(ctx context.Context, img engines.Image) (engines.Page, error) {
	if pageimage.Blank(img.Gray) {
		return engines.Page{}, nil
	}
	return e.Engine.Read(ctx, img)
}

// open starts to read pages whose images render makes.
func (r *recognition) open(ctx context.Context, render pages.Render, scale float64) *pages.Document {
	reader := r.deps.Reader
	reader.Engine = skipBlank{r.order.engine}
	a := r.order.engine.Abilities()
	reader.Options = fmt.Sprintf("ocr dpi=%d side=%d scale=%g", a.DPI, a.Side, scale)
	return reader.Open(ctx, func() (string, error) { return r.file.SHA256, nil }, render)
}

// run reads the pages in parallel and writes them in order. It fails if no page could be read, or if another attempt
// may succeed: the cache has the pages read so far.
func (r *recognition) run(ctx context.Context) error {
	all := r.open(ctx, r.images.Image, 1)
	defer all.Close()
	err := all.Each(r.numbers, func(number int, p engines.Page, err error) error {
		if err != nil {
			p, err = r.again(ctx, number, err)
		}
		if err := r.page(ctx, number, p, err); err != nil {
			return err
		}
		r.done++
		r.call.Progress.Pages(r.done, len(r.numbers))
		r.call.Progress.Report(float64(r.done)/float64(len(r.numbers)),
			fmt.Sprintf("page %d of %d", r.done, len(r.numbers)))
		if r.failures >= maxFailures {
			return errGivenUp
		}
		return nil
	})
	if errors.Is(err, errGivenUp) {
		err = r.giveUp(ctx)
	}
	if err == nil && len(r.unread) == len(r.numbers) {
		err = nothing(r.first)
	}
	return err
}

// again reads a page that failed once more, alone and coarser, unless that is hopeless.
func (r *recognition) again(ctx context.Context, number int, failed error) (engines.Page, error) {
	if hopeless(ctx, failed) {
		return engines.Page{}, failed
	}
	alone := r.open(ctx, func(ctx context.Context, number int) (engines.Image, error) {
		return r.images.Scaled(ctx, number, coarser)
	}, coarser)
	defer alone.Close()
	p, err := alone.Start(number).Wait()
	if err != nil && !hopeless(ctx, err) {
		err = failed // the first error is more informative
	}
	return p, err
}

// hopeless reports whether a second try within this attempt would fail, too.
func hopeless(ctx context.Context, err error) bool {
	_, gone := errors.AsType[*engines.UnavailableError](err)
	return ctx.Err() != nil || gone || retryable(err) || errors.Is(err, engines.ErrTokens)
}

func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	lacks := taskerr.Exhausted(err) && !errors.Is(err, child.ErrKilled) // it may be this page that takes too much memory
	return ok && taskerr.Classes[e.Class].Retryable || lacks
}

// page writes a page. An error ends the attempt.
func (r *recognition) page(ctx context.Context, number int, p engines.Page, failed error) error {
	switch gone, ok := errors.AsType[*engines.UnavailableError](failed); {
	case ctx.Err() != nil:
		return fmt.Errorf("read page %d: %w", number, context.Cause(ctx))
	case ok:
		return &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Message: gone.Reason, Hint: gone.Reason, Cause: failed,
		}
	case retryable(failed):
		return failed
	case failed != nil:
		r.failures++
		return r.skip(number, failed)
	}
	r.failures = 0
	return r.text(ctx, number, p)
}

// skip writes a page that stays unread.
func (r *recognition) skip(number int, why error) error {
	reason := why.Error()
	if e, ok := errors.AsType[*taskerr.Error](why); ok {
		reason = e.Message
	} else if errors.Is(why, engines.ErrPageTime) {
		reason = fmt.Sprintf("it took longer than %s", r.deps.Reader.PageTime)
	}
	if r.first == nil || errors.Is(why, engines.ErrTokens) { // that names what to do
		r.first, r.reason = why, reason
	}
	r.unread = append(r.unread, number)
	return r.out.Page(derived.Page{Number: number, Unread: reason})
}

// giveUp writes the pages that were not tried.
func (r *recognition) giveUp(ctx context.Context) error {
	for _, number := range r.numbers[r.done:] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.skip(number, errGivenUp); err != nil {
			return err
		}
	}
	return nil
}

// text writes a page that was read.
func (r *recognition) text(ctx context.Context, number int, p engines.Page) error {
	a := r.order.engine.Abilities()
	r.others.Count(p)
	r.info.Incomplete = r.info.Incomplete || p.Partial
	r.other = cmp.Or(p.Engine, r.other)
	r.usage = r.usage.Add(p.Usage)
	if r.images.Limited(p.Width, p.Height) {
		r.limited++
	}
	p = p.Clean()
	letters := p.Letters()
	if a.Confidence {
		r.letters += float64(letters)
		r.confidence += float64(letters) * p.Confidence()
	}
	err := r.out.Page(derived.Page{
		Number: number, Width: p.Width, Height: p.Height, DPI: p.DPI, Turned: p.Turned.Degrees(),
		Confidence: p.Confidence(),
		Letters:    letters, Engine: p.Engine, Markdown: extract.Clean(p.Markdown),
	})
	if err != nil {
		return err
	}
	return reading.Blocks(ctx, p, number, func(b extract.Block, words engines.Paragraph) error {
		r.blocks++
		return r.out.Block(derived.Block{Block: b, Words: words})
	})
}

// nothing returns the error of a document without readable pages.
func nothing(why error) error {
	if e, ok := errors.AsType[*taskerr.Error](why); ok {
		return e
	}
	if errors.Is(why, engines.ErrPageTime) {
		return &taskerr.Error{
			Class: taskerr.Timeout, Message: "no page could be read in the time that a page may take (STEP_TIMEOUT_SEC)", Cause: why, Hint: "raise STEP_TIMEOUT_SEC, or give the machine more processor",
		}
	}
	if errors.Is(why, engines.ErrTokens) {
		return &taskerr.Error{
			Class: taskerr.QuotaExceeded, Message: fmt.Sprintf("no page of the document could be read: %v", why), Cause: why,
			Hint: "raise OCR_MAX_TOKENS, or ask for fewer pages",
		}
	}
	if errors.Is(why, engines.ErrPart) {
		return taskerr.Errorf(taskerr.TransientStorage, "no page of the document could be read in full: %w", why)
	}
	return &taskerr.Error{
		Class: taskerr.CorruptionDetected, Message: fmt.Sprintf("no page of the document could be read: %v", why),
		Cause: why,
	}
}
