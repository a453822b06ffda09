package scan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Images reads image files as documents, through OCR: PNG, JPEG, TIFF with all its pages, WebP, BMP, and
// the first frame of a GIF. They are read as their viewers show them (EXIF orientation). What is read
// and what is not stands in Info as with Extractor.
type Images struct{ *reading }

var _ extract.Extractor = Images{}

const (
	imagesName    = "native/image"
	imagesVersion = 1
)

// NewImages returns an extractor of images.
func NewImages(engine ocr.Engine, opts Options) Images {
	return Images{newReading(imagesName, engine, opts)}
}

// Name is e.g. "native/image+tesseract:eng".
func (e Images) Name() string { return e.name + "+" + ocr.Identity(e.engine) }

// Version rises when the same image would give other blocks.
func (e Images) Version() int { return 100*version + imagesVersion }

// ImagesWithout is the extractor where there is no OCR: its error says why.
func ImagesWithout(why error) extract.Extractor { return noText{why} }

// noText is what can be said of an image without OCR.
type noText struct{ why error }

func (noText) Name() string { return imagesName }

func (noText) Version() int { return imagesVersion }

func (n noText) Extract(context.Context, extract.Source, extract.Limits, extract.Emit) (extract.Info, error) {
	return extract.Info{}, taskerr.Errorf(taskerr.UnsupportedFormat,
		"the text of an image can only be read by OCR, which the worker does not have: %w", n.why)
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
	images, err := pageimage.OpenImages(ctx, path, min(limits.Pages, e.opts.Pages)+1, limits.Pool)
	if err != nil {
		return extract.Info{}, err
	}
	defer images.Close()
	if images.Pages() > limits.Pages {
		return extract.Info{}, taskerr.Errorf(taskerr.QuotaExceeded,
			"the image has more than %d pages: split it into smaller files", limits.Pages)
	}
	src.HasPages(images.Pages())
	r := &album{record: record{reading: e.reading}, images: images, patience: patience{Engine: e.engine}}
	doc := e.open(ctx, &r.patience, path, fmt.Sprintf("image %d pixels", e.opts.Pixels), r.render)
	defer doc.Close()
	numbers := make([]int, min(images.Pages(), e.opts.Pages))
	for i := range numbers {
		numbers[i] = i + 1
	}
	if err := doc.Each(numbers, func(number int, text ocr.Page, err error) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read page %d by OCR: %w", number, context.Cause(ctx))
		}
		return r.page(number, text, err, emit)
	}); err != nil {
		return extract.Info{}, err
	}
	for number := len(numbers) + 1; number <= images.Pages(); number++ {
		r.note(number, extract.PageDecision{Method: extract.PageUnread, Reason: whyNoText + noOCR})
		r.skip(number, errTooMany)
	}
	info := extract.Info{Format: src.Format, Extractor: e.name + "+" + e.engine.Name(), Pages: images.Pages()}
	r.report(&info)
	return info, nil
}

// album is the pages of one image file.
type album struct {
	record
	patience patience
	images   *pageimage.Images
}

// damagedError is what is wrong with the file, whatever the engine is.
type damagedError struct{ error }

// Unwrap gives the error.
func (e damagedError) Unwrap() error { return e.error }

func (r *album) render(ctx context.Context, number int) (ocr.Image, error) {
	if r.patience.over() {
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

// page takes what was read of a page.
func (r *album) page(number int, text ocr.Page, err error, emit extract.Emit) error {
	if damaged, ok := errors.AsType[damagedError](err); ok {
		return damaged.error
	}
	if errors.Is(err, errBlank) {
		r.note(number, extract.PageDecision{Method: extract.PageEmpty, Confidence: 1, Reason: whyBlank})
		return nil
	}
	if err != nil {
		if fault := fault(err); fault != nil {
			return fault
		}
		r.note(number, extract.PageDecision{Method: extract.PageUnread, Reason: whyNoText + noOCR})
		r.skip(number, err)
		return nil
	}
	text = text.Clean()
	if text.Letters() == 0 {
		r.note(number, extract.PageDecision{Method: extract.PageEmpty, Confidence: 0.5, Reason: whyNothing})
		return nil
	}
	r.note(number, extract.PageDecision{Method: extract.PageOCR, Confidence: text.Confidence(), Reason: whyNoText})
	r.took(text)
	for _, b := range blocks(number, text) {
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}
