package scan

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/tiff"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// maxDecoded is how many pixels an image may have before it is decoded, of at most 8 bits a channel: a
// color image of so many takes about 160 MB, a phone's picture has 12 to 24 million.
const maxDecoded = 40_000_000

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
	file, err := os.Open(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("open image: %w", err)
	}
	defer func() { _ = file.Close() }() // it is only read
	in := &input{ctx: ctx, file: file}
	pages, err := in.pages(min(limits.Pages, e.opts.Pages) + 1)
	if err != nil {
		return extract.Info{}, explainImage(ctx, err)
	}
	if len(pages) > limits.Pages {
		return extract.Info{}, job.Errorf(job.QuotaExceeded, "the image has more than %d pages: split it into smaller files", limits.Pages)
	}
	r := &reader{Extractor: e.Extractor}
	for i, page := range pages {
		if err := e.page(ctx, r, page, i+1, emit); err != nil {
			return extract.Info{}, err
		}
	}
	info := extract.Info{Format: src.Format, Extractor: e.by(), Pages: len(pages)}
	r.report(&info)
	return info, nil
}

// page reads one page. One that the engine fails on stays unread; one that can't be decoded is an error.
func (e Images) page(ctx context.Context, r *reader, p picture, number int, emit extract.Emit) error {
	if r.failures >= maxFailures {
		r.skip(number, errGivenUp)
		return nil
	}
	if r.tried >= e.opts.Pages {
		r.skip(number, errTooMany)
		return nil
	}
	img, err := p.decode(ctx, e.opts.Pixels)
	if err != nil {
		return explainImage(ctx, err)
	}
	if blank(img.Gray) {
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
		r.skip(number, err)
		return nil
	}
	r.failures = 0
	return r.emit(number, text.Clean(), emit)
}

// explainImage says what is wrong with a file that can't be decoded.
func explainImage(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read an image: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*job.Error](err); ok {
		return err
	}
	_, inTIFF := errors.AsType[tiff.UnsupportedError](err)
	_, inJPEG := errors.AsType[jpeg.UnsupportedError](err)
	_, inPNG := errors.AsType[png.UnsupportedError](err)
	if inTIFF || inJPEG || inPNG || errors.Is(err, image.ErrFormat) {
		return job.Errorf(job.UnsupportedFormat,
			"this is an image of a kind that can't be read; PNG, JPEG, TIFF, WebP, BMP and GIF can be: convert it to one of these (%w)", err)
	}
	return job.Errorf(job.CorruptionDetected, "the image is damaged or was cut off on its way (%w): upload it again", err)
}

// checkPixels refuses an image by its header, before memory is taken for it.
func checkPixels(c image.Config) error {
	if c.Width < 1 || c.Height < 1 {
		return job.Errorf(job.CorruptionDetected, "the image has no pixels (%d × %d): it is damaged", c.Width, c.Height)
	}
	most := maxDecoded
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		most /= 2
	}
	if c.Width > most/c.Height {
		return job.Errorf(job.QuotaExceeded, "the image has %d × %d pixels, more than the %d million that are read: make it smaller",
			c.Width, c.Height, most/1_000_000)
	}
	return nil
}

// input is an image file that ends with ctx.
type input struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call of Extract
	file io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (in *input) ReadAt(p []byte, at int64) (int, error) {
	if in.ctx.Err() != nil {
		return 0, context.Cause(in.ctx)
	}
	return in.file.ReadAt(p, at)
}
