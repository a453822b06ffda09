// Package pageimage returns the pages of PDF and image files as images for OCR engines: gray on white, as a
// reader sees them.
package pageimage

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Options describe the images and limit their cost.
type Options struct {
	DPI    int           // for PDF files; image files have their own
	Side   int           // pixels of the longest side, instead of DPI; zero: DPI applies
	Pixels int           // of an image; larger pages are rendered coarser. Default 20 million
	Time   time.Duration // of one run of a program; zero: limits.Time
	Temp   string        // for empty working folders of programs, unless the source has its own; empty: os.TempDir()
}

// File is a file of pages. It is safe for concurrent use.
type File struct {
	opts   Options
	pages  int
	images *Images // nil: a PDF file
	pdf    PDF
}

// Has reports whether a file of the format has page images.
func Has(f extract.Format) bool { return f == extract.PDF || f == extract.Image }

// Open opens a file for which Has is true. Call Close at the end. Errors are *taskerr.Error
// (unsupported_format, corruption_detected, quota_exceeded), or wrap the cause of the context's end.
func Open(ctx context.Context, src extract.Source, limits extract.Limits, o Options) (*File, error) {
	limits = limits.WithDefaults()
	if o.Time <= 0 {
		o.Time = limits.Time
	}
	o.Pixels = Size{Pixels: o.Pixels}.pixels()
	f := &File{opts: o}
	temp := cmp.Or(src.TempDir, o.Temp)
	if src.Format == extract.Image {
		images, err := OpenImages(ctx, src.Path, temp, limits.Pages+1, limits.Pool)
		if err != nil {
			return nil, err
		}
		if images.Pages() > limits.Pages {
			images.Close()
			return nil, taskerr.Errorf(taskerr.QuotaExceeded,
				"the image has more than %d pages: split it into smaller files", limits.Pages)
		}
		f.images, f.pages = images, images.Pages()
		return f, nil
	}
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return nil, fmt.Errorf("find the PDF: %w", err)
	}
	f.pdf = PDF{
		Path: path, MaxPixels: o.Pixels, Limits: ProgramLimits(o.Time, limits.ChildBytes, o.Pixels), Pool: limits.Pool,
	}
	f.pages, err = pdf.Pages(ctx, path, limits)
	return f, err
}

// Close closes the file.
func (f *File) Close() {
	if f.images != nil {
		f.images.Close()
	}
}

// Pages returns the number of pages.
func (f *File) Pages() int { return f.pages }

// Image returns the image of a page, from 1.
func (f *File) Image(ctx context.Context, number int) (ocr.Image, error) {
	return f.Scaled(ctx, number, 1)
}

// Limited reports whether Options.Pixels made the image of a page, of w × h pixels, smaller than Options.Side asks for.
func (f *File) Limited(w, h int) bool {
	long, short := float64(max(w, h)), float64(min(w, h))
	side, most := float64(f.opts.Side), float64(f.opts.Pixels)
	if long == 0 || long >= side || side*side*short/long <= reserve*most {
		return false
	}
	return f.images == nil || (long+1)*(short+1) >= most // an image is scaled down only, to whole pixels
}

// longest returns the longer side of an image, or 0 without one.
func longest(img *image.Gray) int {
	if img == nil {
		return 0
	}
	return max(img.Rect.Dx(), img.Rect.Dy())
}

// Scaled returns a smaller image of a page: scale is at most 1.
func (f *File) Scaled(ctx context.Context, number int, scale float64) (ocr.Image, error) {
	side := int(float64(f.opts.Side) * scale)
	if f.images != nil {
		img, err := f.images.Decode(ctx, number, Size{Pixels: f.opts.Pixels, Side: side})
		if err == nil && f.opts.Side == 0 && scale < 1 {
			img.Gray, img.DPI = Scaled(img.Gray, scale), int(float64(img.DPI)*scale)
		}
		return img, err
	}
	about, err := f.pdf.Look(ctx, number, 0)
	if err != nil {
		return ocr.Image{}, err
	}
	dpi := int(float64(f.opts.DPI) * scale)
	if side > 0 {
		dpi = max(int(math.Ceil(float64(side)*pointsPerInch/max(about.Width, about.Height))), 1)
	}
	img, err := f.pdf.Render(ctx, number, about, dpi)
	if longest := longest(img.Gray); side > 0 && longest > side { // rounding up to whole dots per inch may exceed it
		img.Gray = Scaled(img.Gray, (float64(side)+0.5)/float64(longest))
	}
	return img, err
}
