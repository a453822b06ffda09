// Package ocr reads page images. It defines the interface of all engines, their result (words with boxes and
// confidence in lines and paragraphs), and the images that they take.
package ocr

import (
	"context"
	"errors"
	"image"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Image is one page: 8-bit gray, as shown to a reader, upright or not.
type Image struct {
	*image.Gray
	DPI int // dots per inch

	// Part is what the image shows of its page, in fractions of it; zero: all. An engine's boxes are on the image;
	// ocr/pages moves them to the page.
	Part Box
}

// Engine reads pages. It is safe for concurrent use.
type Engine interface {
	// Name is for example "tesseract".
	Name() string
	// Version is the engine's version, for example "5.3.0", or its model, for example "gpt-4o-mini".
	Version() string
	// Languages are the languages that it reads, for example "eng"; they influence the text. Empty: it reads
	// any.
	Languages() []string
	// Abilities returns the engine's abilities.
	Abilities() Abilities
	// For returns the engine with a task's options. Its error is a validation_error that lists the choices.
	For(p Preferences) (Engine, error)
	// Read reads one page. A page without text is an empty Page. The error is an *UnavailableError if no page
	// can be read on this machine; it wraps context.Cause(ctx) if ctx ended, unless that is ErrPageTime
	// and the Page is Partial; it is a *taskerr.Error of a retryable class if the service behind the engine is
	// at fault; otherwise it states what went wrong with this page.
	Read(ctx context.Context, img Image) (Page, error)
}

// Abilities are what an engine can do.
type Abilities struct {
	Boxes      bool // words, lines and paragraphs have boxes
	Confidence bool // words have a confidence
	Markdown   bool // pages come as Markdown, with headings and tables
	Rotation   bool // pages are read in any orientation
	Straight   bool // pages that are a little askew are straightened before
	Tables     bool // what is left unread in ruled tables is read once more, without their rules

	// DPI and Side are the images that it needs: the resolution in dots per inch, or, unless Side is zero, the
	// longest side in pixels.
	DPI, Side int
	// Service is the service that it needs; empty: it computes on this machine.
	Service taskerr.Dependency
}

// Preferences are the options of a task. The zero value keeps those of the engine.
type Preferences struct {
	Languages  []string // for example "eng"; empty: the engine's own
	Resolution int      // pixels of an image's longest side; zero: the engine's own DPI or Side
}

// Bounds of the longest side that a task may request: below, no text is legible; above, a page costs as much as
// a document.
const (
	leastSide = 256
	mostSide  = 10_000
)

// Side returns the requested side within bounds, or zero.
func (p Preferences) Side() int {
	if p.Resolution <= 0 {
		return 0
	}
	return min(max(p.Resolution, leastSide), mostSide)
}

var language = pattern.New(`^[A-Za-z]{2,20}([_-][A-Za-z]{2,10})*$`)

// ValidLanguage reports whether s has the form of a language that an engine may know: a code such as eng, en, chi_sim
// or zh-Hans, or a word.
func ValidLanguage(s string) bool { return language.MatchString(s) }

// Identity names everything of an engine that decides its readings, except its program's version, for example
// "tesseract:deu+eng" or "openai:gpt-4o-mini".
func Identity(e Engine) string {
	if languages := e.Languages(); len(languages) > 0 && e.Abilities().Service == "" {
		return e.Name() + ":" + strings.Join(languages, "+")
	}
	return strings.Join(append([]string{e.Name(), e.Version()}, e.Languages()...), ":")
}

// ErrPart is the error of a page of which the service behind an engine read only a part: it says nothing about the page.
var ErrPart = errors.New("only a part of the page was read; is the OCR service overloaded?")

// ErrPageTime is the cause of the context of a page that took too long.
var ErrPageTime = errors.New("it took too long")

// UnavailableError states why there is no OCR at all. Documents that don't need it are still read.
type UnavailableError struct {
	Reason string // for example "tesseract is not installed; install tesseract-ocr, then restart the worker"
	Cause  error
}

func (e *UnavailableError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// Box is a rectangle on the image in fractions (0-1) of its size, from its top left.
type Box struct{ Left, Top, Right, Bottom float64 }

// Word is a word as the engine read it.
type Word struct {
	Text       string
	Box        Box
	Confidence float64 // 0-1
}

// Line is words in reading order.
type Line []Word

// Paragraph is lines in reading order.
type Paragraph []Line

// Page is an engine's reading: paragraphs in reading order, with boxes on the given image. Words of an engine
// without boxes have the zero Box, of one without confidence a Confidence of 1: see Abilities.
type Page struct {
	Paragraphs []Paragraph
	Markdown   string   // the same with headings, lists and tables, if the engine returns it
	Turned     Rotation // rotation of the image before it was read
	Skew       float64  // degrees by which the image was rotated clockwise before it was read, to straighten its lines
	// The given image in pixels, and its dots per inch; set by the caller of the engine (ocr/pages).
	Width, Height, DPI int
	Engine             string // the engine that read it, if not the configured one
	Reason             string // why Engine read it
	Usage              Usage  // of a model
	// Partial: for a reason that may pass, a part of the page was not read, or another engine read it.
	Partial bool
}

// Usage is what a model was paid for.
type Usage struct {
	Requests         int `json:"requests"`          // over all tries
	PromptTokens     int `json:"prompt_tokens"`     // over all tries
	CompletionTokens int `json:"completion_tokens"` // over all tries
}

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.PromptTokens + v.PromptTokens, u.CompletionTokens + v.CompletionTokens}
}

// Known reports whether there is a box.
func (b Box) Known() bool { return b != Box{} }
