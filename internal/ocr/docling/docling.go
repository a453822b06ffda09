// Package docling reads pages with docling-serve. Each page is sent as an image, read by the server's OCR and
// layout models regardless of its content, and returned as Markdown.
package docling

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Name is the engine's name.
const Name = "docling"

// version increases when other options are sent; the server's own version is unknown.
const version = "1"

// PageTimes is how many times the limit of one page (STEP_TIMEOUT_SEC) a page may take here, because it waits
// in the server's queue first.
const PageTimes = 4

// defaultDPI is the resolution of the images that are sent; the server enlarges them threefold for its OCR.
const defaultDPI = 150

// Converter is the part of docling.Client that Engine uses.
type Converter interface {
	Convert(ctx context.Context, q docling.Request, memory docling.Memory, shelf docling.Shelf) (*docling.Result, error)
}

// Engine is an ocr.Engine. It is safe for concurrent use.
type Engine struct {
	client    Converter
	tempDir   string
	side      int      // requested by the task; zero: pages are rendered at defaultDPI
	languages []string // empty: the server's own
}

var _ ocr.Engine = (*Engine)(nil)

// New returns an engine. Images pass through tempDir; "" is the system's.
func New(client Converter, tempDir string) *Engine {
	return &Engine{client: client, tempDir: tempDir}
}

// Name returns "docling".
func (*Engine) Name() string { return Name }

// Version returns the version of the requests.
func (*Engine) Version() string { return version }

// Languages returns the languages that a task named; empty: the server's own.
func (e *Engine) Languages() []string { return slices.Clone(e.languages) }

// Abilities implements ocr.Engine. The server returns boxes of paragraphs at most, and no confidence of words.
func (e *Engine) Abilities() ocr.Abilities {
	return ocr.Abilities{Markdown: true, DPI: defaultDPI, Side: e.side, Service: taskerr.Docling}
}

// For implements ocr.Engine. Languages are passed to the server unchanged: their names are those of its OCR
// engine.
func (e *Engine) For(p ocr.Preferences) (ocr.Engine, error) {
	mine := *e
	for _, l := range p.Languages {
		if !ocr.ValidLanguage(l) {
			return nil, taskerr.Errorf(taskerr.ValidationError,
				"languages: each must be a code that docling-serve's OCR knows, such as eng or en")
		}
	}
	if len(p.Languages) > 0 {
		mine.languages = slices.Clone(p.Languages)
	}
	mine.side = p.Side()
	return &mine, nil
}

// Read implements ocr.Engine.
func (e *Engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	path, err := e.write(img)
	if err != nil {
		return ocr.Page{}, err
	}
	defer func() { _ = os.Remove(path) }() // a leftover is in tempDir, which is removed when the service stops
	result, err := e.client.Convert(ctx, docling.Request{
		Path: path, Name: "page.png", Options: e.options(ctx),
	}, nil, nil)
	if err != nil {
		return ocr.Page{}, err
	}
	if result.Status == docling.PartialSuccess {
		return ocr.Page{}, fmt.Errorf("docling-serve: %w", ocr.ErrPart)
	}
	return ocr.Page{Markdown: result.Markdown, Paragraphs: ocr.Plain(result.Markdown)}, nil
}

func (e *Engine) options(ctx context.Context) []docling.Field {
	all := []docling.Field{
		{Name: "target_type", Value: "inbody"},
		{Name: "to_formats", Value: "json"},
		{Name: "to_formats", Value: "md"},
		{Name: "image_export_mode", Value: "placeholder"},
		{Name: "include_images", Value: "false"},
		{Name: "do_ocr", Value: "true"},
		{Name: "force_ocr", Value: "true"},
	}
	for _, l := range e.languages {
		all = append(all, docling.Field{Name: "ocr_lang", Value: l})
	}
	if deadline, ok := ctx.Deadline(); ok {
		seconds := max(1, int(0.8*time.Until(deadline).Seconds()))
		all = append(all, docling.Field{Name: "document_timeout", Value: strconv.Itoa(seconds)})
	}
	return all
}

// write writes the image to a temporary file.
func (e *Engine) write(img ocr.Image) (path string, err error) {
	file, err := os.CreateTemp(e.tempDir, "page-*.png")
	if err != nil {
		return "", noRoom(err)
	}
	if err := errors.Join(png.Encode(file, img.Gray), file.Close()); err != nil {
		_ = os.Remove(file.Name()) // as in Read
		return "", noRoom(fmt.Errorf("encode the page: %w", err))
	}
	return file.Name(), nil
}

func noRoom(err error) error {
	return taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w",
		err)
}
