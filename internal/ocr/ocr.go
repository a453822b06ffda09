// Package ocr reads page images. It has the one interface of all engines, what they answer (words with
// boxes and confidence in lines and paragraphs), and the images that they take.
package ocr

import (
	"context"
	"image"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
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
	// Version is that of the engine, e.g. "5.3.0", or its model, e.g. "gpt-4o-mini".
	Version() string
	// Languages are those it reads, e.g. "eng"; other languages, other text. None: it reads any.
	Languages() []string
	// Abilities says what it can do.
	Abilities() Abilities
	// For returns the engine with a task's options. Its error is a validation_error that lists the choices.
	For(w Wish) (Engine, error)
	// Read reads one page. A page without text gives a Page without any. The error is an
	// *UnavailableError when no page can be read on this machine, one that wraps context.Cause(ctx), a
	// *taskerr.Error of a retryable class when the service behind the engine is at fault, or says what went
	// wrong with this page.
	Read(ctx context.Context, img Image) (Page, error)
}

// Abilities are what an engine can do.
type Abilities struct {
	Boxes      bool // words, lines and paragraphs have boxes
	Confidence bool // words have a confidence
	Markdown   bool // pages come as Markdown, with headings and tables
	Rotation   bool // pages are read however they lie

	// DPI and Side say which images it needs: dots per inch, or, unless Side is zero, pixels of the longest side.
	DPI, Side int
	// Service is what it needs besides this machine; empty: nothing, it computes here.
	Service taskerr.Dependency
}

// Wish is what a task requests of an engine. The zero value requests nothing.
type Wish struct {
	Languages  []string // e.g. "eng"; none: the engine's own
	Resolution int      // pixels of an image's longest side; zero: the engine's own DPI or Side
}

// The longest sides that an engine is given on a task's wish: below, no text can be read; above, a page costs as much
// as a document.
const (
	leastSide = 256
	mostSide  = 10_000
)

// Side is the wish brought within bounds; zero: there is none.
func (w Wish) Side() int {
	if w.Resolution <= 0 {
		return 0
	}
	return min(max(w.Resolution, leastSide), mostSide)
}

// Identity names everything of an engine that decides what it reads on a page, but its program's version,
// e.g. "tesseract:deu+eng" or "openai:gpt-4o-mini".
func Identity(e Engine) string {
	if languages := e.Languages(); len(languages) > 0 && e.Abilities().Service == "" {
		return e.Name() + ":" + strings.Join(languages, "+")
	}
	return strings.Join(append([]string{e.Name(), e.Version()}, e.Languages()...), ":")
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

// Page is what an engine read: paragraphs in reading order, boxes on the image as it was given. Words of an
// engine without boxes have the zero Box, of one without confidence a Confidence of 1: see Abilities.
type Page struct {
	Paragraphs []Paragraph
	Markdown   string // the same with headings, lists and tables, of an engine that gives it
	Turned     Turn   // how the image was turned to be read
	// The image as it was given, in pixels, and its dots per inch; filled in by who gives it (ocr/pages).
	Width, Height, DPI int
	Engine             string // that read it, when it is not the configured one: see Fallback
	Usage              Usage  // of a model
}

// Usage is what a model was paid for.
type Usage struct {
	Requests         int `json:"requests"`          // all tries
	PromptTokens     int `json:"prompt_tokens"`     // of all tries
	CompletionTokens int `json:"completion_tokens"` // likewise
}

// Add sums up.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.PromptTokens + v.PromptTokens, u.CompletionTokens + v.CompletionTokens}
}

// Known reports whether there is a box.
func (b Box) Known() bool { return b != Box{} }
