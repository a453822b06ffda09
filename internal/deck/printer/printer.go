// Package printer prints decks as PDF files: by our own drawing, or by LibreOffice.
package printer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fit"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Job is a deck to print.
type Job struct {
	Deck     *deck.Deck
	Template *pptx.Template // whose look the deck has: see deck.Restyle; nil: none
	Media    func(key string) (io.ReadCloser, error)
	Folder   string // for temporary files, which the caller removes with it
	// Progress is called with the number of slides that were drawn, and of all; nil: not called.
	Progress func(done, total int) error
}

// Result is what was printed.
type Result struct {
	Path     string
	Slides   int   // in the file: those of the deck that don't fit are several
	Pages    []int // of a PDF: the page, from 1, where each slide of the deck begins; 0: it is hidden
	Warnings []string
}

// Native prints by our own drawing.
func Native(ctx context.Context, j Job, library *fonts.Library, path string) (Result, error) {
	faces, err := pdf.NewFaces(library)
	if err != nil {
		return Result{}, &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Message: "the worker has no font to write PDF with", Cause: err,
			Hint: "apt install fonts-dejavu-core fonts-liberation, then restart the worker",
		}
	}
	r := Result{Path: path}
	err = write(path, func(w io.Writer) error {
		fitted, err := fit.Fit(ctx, j.Deck, faces)
		if err != nil {
			return err
		}
		r.Pages, r.Slides = pages(fitted)
		warnings, err := pdf.Write(ctx, w, fitted.Deck, pdf.Options{Faces: faces, Media: j.Media, Progress: j.Progress})
		r.Warnings = append(fitted.Warnings, warnings...)
		return err
	})
	return r, err
}

// PPTX writes a deck as a presentation.
func PPTX(ctx context.Context, j Job, path string) (Result, error) {
	r := Result{Path: path}
	err := write(path, func(w io.Writer) error {
		fitted, err := fit.Fit(ctx, j.Deck, typeset.Typical{})
		if err != nil {
			return err
		}
		r.Slides = len(fitted.Deck.Slides)
		warnings, err := pptx.Write(ctx, w, fitted.Deck, pptx.WriteOptions{Template: j.Template, Media: j.Media, Progress: j.Progress})
		r.Warnings = append(fitted.Warnings, warnings...)
		return err
	})
	return r, err
}

// Soffice prints by LibreOffice, in a limited child.
func Soffice(ctx context.Context, j Job, limits extract.Limits, path string) (r Result, err error) {
	r, err = PPTX(ctx, j, filepath.Join(j.Folder, "print.pptx"))
	if err != nil {
		return r, err
	}
	about, err := os.Stat(r.Path)
	if err != nil {
		return r, fmt.Errorf("look at the presentation: %w", err)
	}
	fitted, err := fit.Fit(ctx, j.Deck, typeset.Typical{})
	if err != nil {
		return r, err
	}
	r.Pages, r.Slides = pages(fitted)
	printed, err := soffice.Print(ctx, r.Path, about.Size(), limits, j.Folder)
	if err != nil {
		return r, err
	}
	r.Path = path
	if err := errors.Join(os.Rename(printed, path), os.Remove(filepath.Join(j.Folder, "print.pptx"))); err != nil {
		return r, fmt.Errorf("keep the PDF: %w", err)
	}
	return r, nil
}

// pages are the pages of a PDF that the slides begin at, and how many pages there are. A hidden slide has none: 0.
func pages(r fit.Result) (first []int, count int) {
	page := make([]int, len(r.Deck.Slides))
	for i, s := range r.Deck.Slides {
		if !s.Hidden {
			count++
			page[i] = count
		}
	}
	for _, n := range r.First {
		first = append(first, page[n-1])
	}
	return first, count
}

// write makes a file.
func write(path string, content func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return noRoom(err)
	}
	if err := content(file); err != nil {
		_ = file.Close() // it is of no use
		return err
	}
	if err := file.Close(); err != nil {
		return noRoom(err)
	}
	return nil
}

func noRoom(err error) error {
	return taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w", err)
}
