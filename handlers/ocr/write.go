package ocr

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/derived"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	engines "github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// derivedFile is a derived document on disk.
type derivedFile struct {
	path   string
	result Result
}

// write makes the derived document.
func (w *work) write(ctx context.Context) (derivedFile, error) {
	m := derivedFile{path: filepath.Join(w.file.Dir, "derived")}
	file, err := os.OpenFile(m.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return m, noRoom(err)
	}
	defer file.Close()
	if pageimage.Has(w.source.Format) {
		m.result, err = w.recognize(ctx, file)
	} else {
		m.result, err = w.extract(ctx, file)
	}
	if err != nil {
		return m, err
	}
	if err := file.Close(); err != nil {
		return m, noRoom(err)
	}
	return m, nil
}

func noRoom(err error) error {
	return taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w",
		err)
}

// extract writes the text of a document that is not a page image.
func (w *work) extract(ctx context.Context, file *os.File) (Result, error) {
	if err := w.call.Progress.Stage(stageRecognizing); err != nil {
		return Result{}, err
	}
	name := w.deps.Extractor.Version(w.source.Format)
	out := derived.NewWriter(file, w.order.format, derived.Head{
		Filename: w.order.payload.Filename, SourceFormat: w.source.Format, Engine: name,
	})
	current, page, pages, blocks := 1, 0, 0, 0
	info, err := w.deps.Extractor.Extract(ctx, w.source, w.deps.Limits, func(b extract.Block) error {
		if b.Page > 0 { // a file within the document has no page; it is where it comes
			current = b.Page
		}
		if !w.order.pages.has(current) {
			return nil
		}
		blocks++
		if current != page {
			page = current
			pages++
			w.call.Progress.Pages(pages-1, 0) // the total is unknown
			w.call.Progress.Report(1-1/(1+float64(page)/20), fmt.Sprintf("page %d", page))
			if err := out.Page(derived.Page{Number: page}); err != nil {
				return err
			}
		}
		return out.Block(derived.Block{Block: b})
	})
	if err != nil {
		return Result{}, err
	}
	w.info = info
	if info.Fallback {
		w.other = info.Extractor
	}
	switch last := w.order.pages.last(); {
	case last > 0 && info.Pages == 0:
		return Result{}, handlers.Invalid("payload.pages",
			"asks for page %d, but a document of this format has no pages; leave it out", last)
	case last > info.Pages && last > 0:
		return Result{}, handlers.Invalid("payload.pages", "asks for page %d, but the document has %d", last,
			info.Pages)
	case last == 0:
		pages = max(info.Pages, 1)
	}
	r := Result{PageCount: pages, OCREngine: info.Extractor, Warnings: slices.DeleteFunc(slices.Clone(info.Warnings),
		func(warning string) bool { return warning == extract.NoText })} // what follows says it, of the pages that were asked for
	if blocks == 0 {
		r.Warnings = append(r.Warnings, "the document has no text")
	}
	return r, out.Close(derived.Tail{Pages: pages})
}

// recognize reads the pages by OCR.
func (w *work) recognize(ctx context.Context, file *os.File) (Result, error) {
	if w.order.engine == nil {
		return Result{}, &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Message: fmt.Sprintf("the worker has no OCR: %v", w.deps.NoEngine),
			Cause: w.deps.NoEngine,
			Hint: "apt install tesseract-ocr and its languages, or set OCR_ENGINE, then restart the worker; async-worker doctor " +
				"shows what is missing",
		}
	}
	a := w.order.engine.Abilities()
	images, err := pageimage.Open(ctx, w.source, w.deps.Limits, pageimage.Options{
		DPI: a.DPI, Side: a.Side, Time: w.deps.Reader.PageTime, Temp: w.file.Dir,
	})
	if err != nil {
		return Result{}, err
	}
	defer images.Close()
	numbers, err := w.order.pages.of(images.Pages())
	if err != nil {
		return Result{}, err
	}
	if err := w.call.Progress.Stage(stageRecognizing); err != nil {
		return Result{}, err
	}
	e := w.order.engine
	r := &recognition{
		work: w, images: images, numbers: numbers,
		out: derived.NewWriter(file, w.order.format, derived.Head{
			Filename: w.order.payload.Filename, SourceFormat: w.source.Format, Engine: e.Name(), Version: e.Version(),
			Languages: e.Languages(), Abilities: a,
		}),
	}
	if err := r.run(ctx); err != nil {
		return Result{}, err
	}
	return r.result(), r.out.Close(derived.Tail{Pages: len(numbers), MeanConfidence: r.mean(), Unread: r.unread})
}

// result returns the task's result.
func (r *recognition) result() Result {
	e := r.order.engine
	result := Result{
		PageCount: len(r.numbers), OCREngine: e.Name(), MeanConfidence: r.mean(), Languages: e.Languages(),
		UnreadPages: r.unread, Warnings: r.adjusted(),
	}
	if e.Abilities().Service != "" {
		result.Model = e.Version()
	}
	if r.usage != (engines.Usage{}) {
		result.Usage = &r.usage
	}
	if r.limited > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%d of %d pages were read with fewer than the %d pixels of "+
			"hints.resolution, as an image has at most 20 million", r.limited, len(r.numbers), e.Abilities().Side))
	}
	if len(r.unread) > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%d of %d pages could not be read (%s)", len(r.unread),
			len(r.numbers), r.reason))
	}
	result.Warnings = append(result.Warnings, r.others.Warnings(len(r.numbers))...)
	if r.blocks == 0 && len(r.unread) < len(r.numbers) {
		result.Warnings = append(result.Warnings, fmt.Sprintf("no text was found on %d pages",
			len(r.numbers)-len(r.unread)))
	}
	return result
}

const aboutResolution = "hints.resolution "

// ofTask reports whether a warning is about a task, and not about the document.
func ofTask(warning string) bool { return strings.HasPrefix(warning, aboutResolution) }

// adjusted returns the warnings about the task's own options.
func (w *work) adjusted() []string {
	e, asked := w.order.engine, w.call.Task.Hints.Resolution
	if e == nil || asked == 0 || e.Abilities().Side == asked || !pageimage.Has(w.source.Format) {
		return nil
	}
	return []string{fmt.Sprintf(aboutResolution+"of %d pixels was brought to %d, as %s reads images of that size", asked,
		e.Abilities().Side, e.Name())}
}

// mean is the mean confidence over all letters; nil when the engine has none, or there are no letters.
func (r *recognition) mean() *float64 {
	if r.letters == 0 {
		return nil
	}
	return new(math.Round(1000*r.confidence/r.letters) / 1000)
}
