package convert

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/preview"
	"github.com/seed-7227ef26/async-worker/internal/deck/printer"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// pictures are the files of a preview; none: it could not be drawn.
type pictures struct {
	slides []string
	sheet  string
}

// preview draws the slides. A deck without a preview is still a deck: what goes wrong is a warning, unless this machine
// lacks something.
func (w *work) preview(ctx context.Context, d *deck.Deck) (p pictures, err error) {
	folder := filepath.Join(w.file.Dir, "preview")
	work := filepath.Join(w.file.Dir, "print")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(work, 0o700)); err != nil {
		return p, source.NoRoom(err)
	}
	printed, err := w.print(ctx, d, work)
	if err == nil {
		p, err = w.draw(ctx, printed, folder, filepath.Join(work, "sheet.png"))
	}
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return p, context.Cause(ctx)
	case taskerr.Exhausted(err):
		return p, fmt.Errorf("draw the slides: %w", err)
	}
	w.warnings = append(w.warnings, "the slides have no preview: "+reason(err))
	return pictures{}, nil
}

// draw draws the page of a PDF that each slide begins at, and the picture of all of them.
func (w *work) draw(ctx context.Context, pdf printer.Result, folder, sheetPath string) (p pictures, err error) {
	sheet := preview.NewSheet(len(pdf.Pages))
	p.slides, err = preview.Render(ctx, pdf.Path, folder, preview.Options{
		Pages: pdf.Pages, Time: w.deps.Limits.WithDefaults().Time, Pool: w.deps.Limits.Pool,
		Each: func(slide int, picture image.Image) error {
			w.call.Progress.Report(0.5+float64(slide)/float64(2*max(len(pdf.Pages), 1)), "")
			return sheet.Add(slide, picture)
		},
	})
	if err != nil {
		return p, err
	}
	if n := len(p.slides); n < len(pdf.Pages) {
		w.warnings = append(w.warnings, fmt.Sprintf("only the first %d of %d slides have a preview", n, len(pdf.Pages)))
	}
	p.sheet = sheetPath
	return p, sheet.Save(sheetPath)
}

// print makes a PDF of the deck. If LibreOffice can't, our own drawing does.
func (w *work) print(ctx context.Context, d *deck.Deck, folder string) (printer.Result, error) {
	job := printer.Job{Deck: unhidden(d), Media: w.open, Folder: folder}
	path := filepath.Join(folder, "deck.pdf")
	if w.deps.Soffice {
		if r, err := printer.Soffice(ctx, job, w.deps.Limits, path); err == nil || ctx.Err() != nil || taskerr.Exhausted(err) {
			return r, err
		}
	}
	return printer.Native(ctx, job, w.deps.Fonts, path)
}

// unhidden is the deck with its hidden slides in the show: each slide has a picture, under its number.
func unhidden(d *deck.Deck) *deck.Deck {
	out := *d
	out.Slides = slices.Clone(d.Slides)
	for i := range out.Slides {
		out.Slides[i].Hidden = false
	}
	return &out
}

// open opens one of the deck's pictures.
func (w *work) open(key string) (io.ReadCloser, error) { return os.Open(filepath.Join(w.media, key)) }

// reason is what an error says to the task's sender.
func reason(err error) string {
	if missing, ok := errors.AsType[*child.NotInstalledError](err); ok {
		return missing.Error()
	}
	return taskerr.Classify(err).Message
}
