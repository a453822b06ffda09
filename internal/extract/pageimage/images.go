package pageimage

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
	"sync"

	"golang.org/x/image/tiff"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxDecoded is the maximum number of pixels of an image, with at most 8 bits per channel. A color image of
// this size takes about 160 MB; a phone's picture has 12 to 24 million pixels.
const maxDecoded = 40_000_000

// Images is an image file: PNG, JPEG, TIFF with all its pages, WebP, BMP, the first frame of a GIF, or HEIC. Its
// pages are as viewers show them (EXIF orientation). It is safe for concurrent use.
//
// Errors are *taskerr.Error (unsupported_format, corruption_detected, quota_exceeded), or wrap the cause of the
// context's end.
type Images struct {
	file     *os.File
	data     io.ReaderAt // the file, a BigTIFF as a TIFF
	size     int64       // of data
	pages    []page
	pool     *child.Pool
	decoding sync.Mutex // one page at a time; a second one would wait for this one's memory
}

// OpenImages finds the pages of an image file, up to most. They are decoded within the pool, unless it is nil.
// temp is for temporary files; empty: os.TempDir(). Call Close at the end.
func OpenImages(ctx context.Context, path, temp string, most int, pool *child.Pool) (*Images, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	head := make([]byte, 12)
	if n, _ := file.ReadAt(head, 0); isHEIC(head[:n]) { // what can't be read is reported below
		_ = file.Close() // read-only
		if file, err = fromHEIC(ctx, path, temp, pool); err != nil {
			return nil, explain(ctx, err)
		}
	}
	info, err := file.Stat()
	var pages []page
	var data io.ReaderAt
	var size int64
	if err == nil {
		data, size, err = smallTIFF(file, info.Size())
	}
	if err == nil {
		pages, err = (&input{ctx: ctx, file: data}).pages(most)
	}
	if err != nil {
		_ = file.Close() // read-only
		return nil, explain(ctx, err)
	}
	return &Images{file: file, data: data, size: size, pages: pages, pool: pool}, nil
}

// Close closes the file.
func (im *Images) Close() { _ = im.file.Close() } // read-only

// Pages returns the number of pages.
func (im *Images) Pages() int { return len(im.pages) }

// Decode returns a page (from 1) in gray on white, upright according to the file's orientation.
func (im *Images) Decode(ctx context.Context, number int, size Size) (ocr.Image, error) {
	im.decoding.Lock()
	defer im.decoding.Unlock()
	img, err := im.pages[number-1].decode(&input{ctx: ctx, file: im.data, size: im.size, pool: im.pool}, size)
	if err != nil {
		return ocr.Image{}, explain(ctx, err)
	}
	return img, nil
}

// explain describes what is wrong with a file that can't be decoded.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read an image: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*taskerr.Error](err); ok {
		return err
	}
	if taskerr.Exhausted(err) {
		return taskerr.Classify(err)
	}
	_, inTIFF := errors.AsType[tiff.UnsupportedError](err)
	_, inJPEG := errors.AsType[jpeg.UnsupportedError](err)
	_, inPNG := errors.AsType[png.UnsupportedError](err)
	if inTIFF || inJPEG || inPNG || errors.Is(err, image.ErrFormat) {
		return taskerr.Errorf(taskerr.UnsupportedFormat,
			"this is an image of a kind that can't be read; PNG, JPEG, TIFF, WebP, BMP and GIF can be: convert it "+
				"to one of these (%w)", err)
	}
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"the image is damaged or was cut off on its way (%w): upload it again", err)
}

// checkPixels rejects an image by its header, before memory is allocated for it.
func checkPixels(c image.Config) error {
	if c.Width < 1 || c.Height < 1 {
		return taskerr.Errorf(taskerr.CorruptionDetected, "the image has no pixels (%d × %d): it is damaged", c.Width,
			c.Height)
	}
	most := maxDecoded
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		most /= 2
	}
	if c.Width > most/c.Height {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"the image has %d × %d pixels, more than the %d million that are read: make it smaller",
			c.Width, c.Height, most/1_000_000)
	}
	return nil
}

// input is an image file whose reads fail when ctx is done.
type input struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	file io.ReaderAt
	size int64
	pool *child.Pool
}

// ReadAt implements io.ReaderAt.
func (in *input) ReadAt(p []byte, at int64) (int, error) {
	if in.ctx.Err() != nil {
		return 0, context.Cause(in.ctx)
	}
	return in.file.ReadAt(p, at)
}
