package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Images reads image files as documents through OCR: PNG, JPEG, TIFF with all its pages, WebP, BMP, and the
// first frame of a GIF. Images are read as viewers show them (EXIF orientation). Info reports what was read and
// what was not, as with Extractor.
type Images struct{ *reading }

var _ extract.Extractor = Images{}

const (
	imagesName    = "native/image"
	imagesVersion = 3
)

// NewImages returns an extractor of images.
func NewImages(engine ocr.Engine, opts Options) Images {
	return Images{newReading(imagesName, engine, opts)}
}

// Name is for example "native/image+tesseract:eng".
func (e Images) Name() string { return e.name + "+" + ocr.Identity(e.engine) }

// Version increases when the same image would produce other blocks.
func (e Images) Version() int { return 100*version + imagesVersion }

// ImagesWithout returns the extractor for a worker without OCR. Its error states the reason.
func ImagesWithout(reason error) extract.Extractor { return noText{reason} }

// noText fails for every image, because there is no OCR.
type noText struct{ reason error }

func (noText) Name() string { return imagesName }

func (noText) Version() int { return imagesVersion }

func (n noText) Extract(context.Context, extract.Source, extract.Limits, extract.Emit) (extract.Info, error) {
	return extract.Info{}, taskerr.Errorf(taskerr.UnsupportedFormat,
		"the text of an image can only be read by OCR, which the worker does not have: %w", n.reason)
}

// Extract implements extract.Extractor. A page that the engine fails on stays unread; one that can't be
// decoded is an error.
func (e Images) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	limits = limits.WithDefaults()
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("find the image: %w", err)
	}
	images, err := pageimage.OpenImages(
		ctx, path, cmp.Or(src.TempDir, e.opts.TempDir), min(limits.Pages, e.opts.Pages)+1, limits.Pool,
	)
	if err != nil {
		return extract.Info{}, err
	}
	defer images.Close()
	if images.Pages() > limits.Pages {
		return extract.Info{}, taskerr.Errorf(taskerr.QuotaExceeded,
			"the image has more than %d pages: split it into smaller files", limits.Pages)
	}
	src.HasPages(images.Pages())
	r := &album{
		record: record{reading: e.reading}, images: images, failures: failureCounter{Engine: e.engine},
		layout: pdf.NewLayout(images.Pages(), emit),
	}
	doc := e.open(ctx, &r.failures, path, fmt.Sprintf("image %d pixels", e.opts.Pixels), r.render)
	defer doc.Close()
	numbers := make([]int, min(images.Pages(), e.opts.Pages))
	for i := range numbers {
		numbers[i] = i + 1
	}
	if err := doc.Each(numbers, func(number int, text ocr.Page, err error) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read page %d by OCR: %w", number, context.Cause(ctx))
		}
		return r.page(ctx, number, text, err)
	}); err != nil {
		return extract.Info{}, err
	}
	if err := r.layout.Flush(ctx); err != nil {
		return extract.Info{}, err
	}
	for number := len(numbers) + 1; number <= images.Pages(); number++ {
		r.note(number, extract.PageDecision{Method: extract.PageUnread, Reason: reasonNoText + noOCR})
		r.skip(number, errTooMany)
	}
	info := extract.Info{Format: src.Format, Extractor: e.name + "+" + e.engine.Name(), Pages: images.Pages()}
	r.report(&info)
	return info, nil
}

// album is the pages of one image file.
type album struct {
	record
	failures failureCounter
	images   *pageimage.Images
	layout   *pdf.Layout
}

// damagedError is a fault of the file that no engine can read.
type damagedError struct{ error }

// Unwrap returns the cause.
func (e damagedError) Unwrap() error { return e.error }

func (r *album) render(ctx context.Context, number int) (ocr.Image, error) {
	if r.failures.exhausted() {
		return ocr.Image{}, errGivenUp
	}
	img, err := r.images.Decode(ctx, number, pageimage.Size{Pixels: r.opts.Pixels})
	switch {
	case err != nil:
		return ocr.Image{}, damagedError{err}
	case pageimage.Blank(img.Gray):
		return ocr.Image{}, errBlank
	}
	return img, nil
}

// page records the result of reading a page and emits its text.
func (r *album) page(ctx context.Context, number int, text ocr.Page, err error) error {
	if damaged, ok := errors.AsType[damagedError](err); ok {
		return damaged.error
	}
	if errors.Is(err, errBlank) {
		r.note(number, extract.PageDecision{Method: extract.PageEmpty, Confidence: 1, Reason: reasonBlank})
		return nil
	}
	if err != nil {
		if fault := fault(err); fault != nil {
			return fault
		}
		r.note(number, extract.PageDecision{Method: extract.PageUnread, Reason: reasonNoText + noOCR})
		r.skip(number, err)
		return nil
	}
	text = text.Clean()
	if text.Letters() == 0 {
		r.note(number, extract.PageDecision{Method: extract.PageEmpty, Confidence: 0.5, Reason: reasonNothing})
		return nil
	}
	r.note(number, extract.PageDecision{Method: extract.PageOCR, Confidence: text.Confidence(), Reason: reasonNoText})
	r.took(text)
	lines := linesOf(text)
	if lines == nil {
		return r.layout.Put(ctx, number, blocks(number, text))
	}
	points := 72 / float64(cmp.Or(text.DPI, defaultDPI))
	return r.layout.Add(ctx, number, float64(text.Width)*points, float64(text.Height)*points, *lines)
}
