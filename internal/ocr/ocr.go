// Package ocr reads page images. It has the one interface of all engines, what they answer (words with
// boxes and confidence in lines and paragraphs), and the images that they take.
package ocr

import (
	"context"
	"image"
)

// Image is one page: 8-bit gray, as it is shown to a reader (upright or not).
type Image struct {
	*image.Gray
	DPI int // dots per inch
}

// Engine reads pages. It is safe for concurrent use.
type Engine interface {
	// Name is e.g. "tesseract".
	Name() string
	// Version is that of the engine, e.g. "5.3.0".
	Version() string
	// Languages are those it reads, e.g. "eng"; other languages, other text.
	Languages() []string
	// Read reads one page, also one that lies on its side or head. A page without text gives a Page
	// without paragraphs. The error is an *UnavailableError when no page can be read on this machine,
	// one that wraps context.Cause(ctx), or says what went wrong with this page.
	Read(ctx context.Context, img Image) (Page, error)
}

// UnavailableError says why there is no OCR at all: whoever can do without goes on without.
type UnavailableError struct {
	Reason string // e.g. "tesseract is not installed; install tesseract-ocr"
	Cause  error
}

func (e *UnavailableError) Error() string { return e.Reason }

// Unwrap gives the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// Box is a place on the image in fractions (0-1) of its size from its top left.
type Box struct{ Left, Top, Right, Bottom float64 }

// Word is a word as the engine understood it.
type Word struct {
	Text       string
	Box        Box
	Confidence float64 // 0-1
}

// Line is words from left to right as they are read.
type Line []Word

// Paragraph is lines in reading order.
type Paragraph []Line

// Page is what an engine read: paragraphs in reading order, boxes on the image as it was given.
type Page struct {
	Paragraphs []Paragraph
	Turned     Turn // how the image was turned to be read
}
