package scan

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Images reads image files as documents, through OCR: PNG, JPEG, TIFF with all its pages, WebP, BMP, and
// the first frame of a GIF. They are read as their viewers show them (EXIF orientation). What is read
// and what is not stands in Info.Properties as with Extractor.
type Images struct{ *Extractor }

var _ extract.Extractor = Images{}

// NewImages makes an extractor of images.
func NewImages(engine ocr.Engine, opts Options) Images {
	return Images{New(noText{}, engine, opts)}
}

// ImagesWithout is the extractor where there is no OCR: its error says why.
func ImagesWithout(why error) extract.Extractor { return noText{why} }

// noText is what can be said of an image without OCR.
type noText struct{ why error }

func (noText) Name() string { return "native/image" }

func (noText) Version() int { return 1 }

func (n noText) Extract(context.Context, extract.Source, extract.Limits, extract.Emit) (extract.Info, error) {
	return extract.Info{}, job.Errorf(job.UnsupportedFormat, "the text of an image can only be read by OCR, which the worker does not have: %w", n.why)
}

// Extract implements extract.Extractor.
func (e Images) Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error) {
	limits = limits.WithDefaults()
	images, err := pageimage.OpenImages(ctx, src.Path, min(limits.Pages, e.opts.Pages)+1)
	if err != nil {
		return extract.Info{}, err
	}
	defer images.Close()
	if images.Pages() > limits.Pages {
		return extract.Info{}, job.Errorf(job.QuotaExceeded, "the image has more than %d pages: split it into smaller files", limits.Pages)
	}
	r := &reader{Extractor: e.Extractor}
	for number := 1; number <= images.Pages(); number++ {
		if err := e.page(ctx, r, images, number, emit); err != nil {
			return extract.Info{}, err
		}
	}
	info := extract.Info{Format: src.Format, Extractor: e.by(), Pages: images.Pages()}
	r.report(&info)
	return info, nil
}

// page reads one page. One that the engine fails on stays unread; one that can't be decoded is an error.
func (e Images) page(ctx context.Context, r *reader, images *pageimage.Images, number int, emit extract.Emit) error {
	if r.failures >= maxFailures {
		return r.skip(number, errGivenUp)
	}
	if r.tried >= e.opts.Pages {
		return r.skip(number, errTooMany)
	}
	img, err := images.Decode(ctx, number, pageimage.Size{Pixels: e.opts.Pixels})
	if err != nil {
		return err
	}
	if pageimage.Blank(img.Gray) {
		return nil
	}
	r.tried++
	timed, cancel := context.WithTimeoutCause(ctx, e.opts.PageTime, errPageTime)
	defer cancel()
	text, err := e.engine.Read(timed, img)
	if ctx.Err() != nil {
		return fmt.Errorf("read page %d by OCR: %w", number, context.Cause(ctx))
	}
	if err != nil {
		return r.skip(number, err)
	}
	r.failures = 0
	return r.emit(number, text.Clean(), emit)
}
