package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/test/quality/structure"
)

// runStructure makes documents with a known structure, prints them, and measures what the extractors find of it.
func runStructure(ctx context.Context, o structureOptions) error {
	files, remove, err := o.files(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if o.producer != "" { // a prefix
		files = slices.DeleteFunc(files, func(f structure.File) bool { return !strings.HasPrefix(f.Format+" "+f.Producer, o.producer) })
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
		structure.Print(os.Stdout, "format, kind, program", slices.DeleteFunc(slices.Clone(results),
			func(r structure.Result) bool { return r.Format != "pdf" }),
			func(f structure.File) string { return "pdf " + f.Kind + " " + f.Producer }),
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
	missed = errors.Join(missed, structure.Costs(ctx, os.Stdout, results))
	if o.mistakes {
		for _, r := range results {
			structure.Mistakes(os.Stdout, r)
		}
	}
	return errors.Join(structure.Failures(results), missed)
}

// structureOptions are the flags that are about documents of a known structure.
type structureOptions struct {
	seed        uint64
	only        string // kinds, separated by commas; empty: all
	producer    string // a prefix of for example "pdf typst"
	keep, again string
	venv        string
	mistakes    bool
}

// files writes the documents, or finds those that were written before. remove removes them unless they are kept.
func (o structureOptions) files(ctx context.Context) (files []structure.File, remove func(), err error) {
	docs := structure.Documents(o.seed)
	if o.only != "" {
		docs = slices.DeleteFunc(docs, func(d *structure.Document) bool {
			return !slices.Contains(strings.Split(o.only, ","), d.Kind)
		})
	}
	remove = func() {}
	if o.again != "" {
		files, err = structure.Written(o.again, docs)
		return files, remove, err
	}
	tools, err := structure.FindTools(o.venv)
	if err != nil {
		return nil, remove, err
	}
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "structure-"); err != nil {
			return nil, remove, fmt.Errorf("make a folder: %w", err)
		}
		remove = func() { _ = os.RemoveAll(dir) } // what stays in the folder for temporary files is no harm
	}
	files, err = tools.Write(ctx, dir, docs)
	if err != nil {
		remove()
	}
	return files, remove, err
}

func pdfOr(f structure.File) string {
	if f.Format == "pdf" {
		return "pdf"
	}
	return "other"
}
