package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/test/quality/structure"
)

// runStructure makes documents with a known structure, prints them, and measures what the extractors find of it.
func runStructure(ctx context.Context, seed uint64, keep, venv string) (err error) {
	tools, err := structure.FindTools(venv)
	if err != nil {
		return err
	}
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "structure-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	files, err := tools.Write(ctx, dir, structure.Documents(seed))
	if err != nil {
		return err
	}
	router, noOCR := app.Extractors(ctx, pageTime, nil)
	if noOCR != nil {
		fmt.Fprintln(os.Stderr, "quality: scans are not read:", noOCR)
	}
	results, err := structure.Measure(ctx, router, files)
	if err != nil {
		return err
	}
	missed := errors.Join(
		structure.Print(os.Stdout, "format, program", results,
			func(f structure.File) string { return f.Format + " " + f.Producer }),
		structure.Print(os.Stdout, "format, kind", results,
			func(f structure.File) string { return pdfOr(f) + " " + f.Kind }),
		structure.Print(os.Stdout, "format, language", results,
			func(f structure.File) string { return pdfOr(f) + " " + f.Language }))
	for title, of := range map[string]func(structure.Score) float64{
		"headings": func(s structure.Score) float64 { return s.Headings.F1() },
		"items":    func(s structure.Score) float64 { return s.Items.F1() },
		"cells":    func(s structure.Score) float64 { return s.Cells.F1() },
		"words":    func(s structure.Score) float64 { return s.Words },
		"order":    func(s structure.Score) float64 { return s.Order },
	} {
		structure.Worst(os.Stdout, title, results, 12, of)
	}
	return errors.Join(structure.Failures(results), missed)
}

func pdfOr(f structure.File) string {
	if f.Format == "pdf" {
		return "pdf"
	}
	return "other"
}
