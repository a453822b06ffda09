// Package pageimage gives the pages of PDF and image files as the images that OCR engines take: gray, on
// white paper, as a reader sees them.
package pageimage

import (
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

// Options select the images and bound what they cost.
type Options struct {
	DPI    int           // of the pages of a PDF file; images have their own
	Side   int           // pixels of the longest side, and no DPI; zero: DPI counts
	Pixels int           // of an image; coarser ones are made of larger pages. Default 20 million
	Time   time.Duration // of one run of a program; zero: limits.Time
	Temp   string        // where programs get their empty working folders; empty: os.TempDir()
}

// File is a file of pages. It is safe for concurrent use.
type File struct {
	opts   Options
	pages  int
	images *Images // nil: a PDF file
	pdf    PDF
}

// Has reports whether files of the format are pages to be looked at.
func Has(f extract.Format) bool { return f == extract.PDF || f == extract.Image }

// Open opens a file whose format Has. Close it at the end. Errors are *taskerr.Error (unsupported_format,
// corruption_detected, quota_exceeded), or wrap the cause of the context's end.
func Open(ctx context.Context, src extract.Source, limits extract.Limits, o Options) (*File, error) {
	limits = limits.WithDefaults()
	if o.Time <= 0 {
		o.Time = limits.Time
	}
	o.Pixels = Size{Pixels: o.Pixels}.pixels()
	f := &File{opts: o}
	if src.Format == extract.Image {
		images, err := OpenImages(ctx, src.Path, limits.Pages+1, limits.Pool)
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
		Path: path, MaxPixels: o.Pixels, TempDir: o.Temp, Limits: ProgramLimits(o.Time, limits.ChildBytes, o.Pixels),
		Pool: limits.Pool,
	}
	f.pages, err = pdf.Pages(ctx, path, o.Temp, limits)
	return f, err
}

// Close closes the file.
func (f *File) Close() {
	if f.images != nil {
		f.images.Close()
	}
}

// Pages is how many there are.
func (f *File) Pages() int { return f.pages }

// Image makes the image of a page; 1 is the first.
func (f *File) Image(ctx context.Context, number int) (ocr.Image, error) {
	return f.Scaled(ctx, number, 1)
}

// longest is the longer side of an image, 0 of none.
func longest(img *image.Gray) int {
	if img == nil {
		return 0
	}
	return max(img.Rect.Dx(), img.Rect.Dy())
}

// Scaled makes a coarser one: scale is at most 1.
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
	if longest := longest(img.Gray); side > 0 && longest > side { // by what whole dots per inch are more
		img.Gray = Scaled(img.Gray, (float64(side)+0.5)/float64(longest))
	}
	return img, err
}
