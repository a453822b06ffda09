// Package pdf extracts the text of PDF files with poppler's programs, which run in limited child processes.
// Pages stream through it: a page is laid out (columns, running heads, tables, headings, lists) when a few more
// pages were read, and its blocks are emitted before the rest is read.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	name    = "native/pdf"
	version = 16

	// rangePages is how many pages one run of poppler reads. Its memory grows with them, and Limits.Time
	// applies to each run.
	rangePages = 100
	// maxDamaged is how many pages may be lost before a document counts as unreadable.
	maxDamaged = 20
	// maxCostly is how many pages are read alone because they need much memory or time.
	maxCostly = 3
)

// Extractor reads PDF files.
//
// A page that poppler crashes on is left out and listed in Info.Properties["pages_unreadable"];
// "text_pages" there counts the pages that have text: "0" is a scan.
type Extractor struct{}

var _ extract.Extractor = Extractor{}

// New returns an Extractor.
func New() Extractor { return Extractor{} }

// Name returns "native/pdf".
func (Extractor) Name() string { return name }

// Version increases when the same file would produce other blocks.
func (Extractor) Version() int { return version }

// Extract implements extract.Extractor.
func (e Extractor) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	return e.ExtractRouted(ctx, src, limits, nil, emit)
}

// ExtractRouted is Extract with a router that is called for every page, unless it is nil.
func (Extractor) ExtractRouted(
	ctx context.Context, src extract.Source, limits extract.Limits, router Router, emit extract.Emit,
) (extract.Info, error) {
	limits = limits.WithDefaults()
	if src.Size > limits.Bytes {
		return extract.Info{}, extract.TooLarge(src.Size, limits.Bytes)
	}
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("find the PDF: %w", err)
	}
	program := newPoppler(src, path, limits)
	defer program.drawn.close()
	report, err := program.info(ctx)
	if err != nil {
		return extract.Info{}, failure(err)
	}
	info := report.document()
	if err := checkPages(info.Pages, limits); err != nil {
		return info, err
	}
	src.HasPages(info.Pages)
	d := newDocument(info.Pages, counted(&info, limits.Characters, emit))
	d.whole = src.Whole
	if !program.drawn.noOutline(ctx) {
		items, err := program.readOutline(ctx)
		if err != nil {
			return info, failure(err)
		}
		d.outline(items)
	}
	damaged, err := readAll(ctx, program, info.Pages, &routeQueue{router: router, deliver: d.add})
	if err == nil {
		err = d.flush(ctx)
	}
	program.lacks.note(program.drawn.failed)
	if err == nil {
		err = program.lacks.err()
	}
	if err != nil {
		return info, failure(err)
	}
	info.Properties["text_pages"] = strconv.Itoa(d.textPages)
	if len(damaged) > 0 {
		info.Properties["pages_unreadable"] = strings.Join(damaged, ",")
	}
	info.Warnings = slices.Concat(program.warnings(), d.warnings(), program.drawn.beyond(info.Pages))
	return info, nil
}

// Pages returns the number of pages of a PDF file. The error states why the file can't be read, or that it has more
// pages than limits allow.
func Pages(ctx context.Context, path string, limits extract.Limits) (int, error) {
	program := newPoppler(extract.Source{}, path, limits.WithDefaults())
	defer program.drawn.close()
	report, err := program.info(ctx)
	if err != nil {
		return 0, failure(err)
	}
	return report.pages(), checkPages(report.pages(), limits.WithDefaults())
}

func checkPages(pages int, limits extract.Limits) error {
	switch {
	case pages < 1:
		return unreadable(child.Result{})
	case pages > limits.Pages:
		return taskerr.Errorf(taskerr.QuotaExceeded, "the PDF has %d pages, at most %d are allowed", pages,
			limits.Pages)
	}
	return nil
}

// readAll reads the document in ranges of pages, and continues after each page on which poppler dies. A page
// that takes too much memory or time in its range is read alone before it is given up.
func readAll(ctx context.Context, program poppler, pages int, w *routeQueue) (damaged []string, err error) {
	costly := 0
	for next := 1; next <= pages; {
		last := min(next+rangePages-1, pages)
		result, err := program.pages(ctx, next, last, func(p *page) error {
			next = p.number + 1
			return w.add(ctx, p)
		})
		if err != nil {
			return nil, err
		}
		if next > last {
			continue
		}
		if result.End == child.WaitLimit || result.End == child.CPULimit || result.End == child.OutputLimit {
			return nil, fmt.Errorf("page %d: %w", next, unreadable(result))
		}
		if result.End == child.MemoryLimit || result.End == child.Idle {
			if costly++; costly > maxCostly {
				return nil, fmt.Errorf("page %d: %w", next, unreadable(result))
			}
			var found *page
			if result.End == child.MemoryLimit || last > next {
				if found, result, err = program.alone(ctx, next); err != nil {
					return nil, err
				}
			}
			if found != nil {
				if err := w.add(ctx, found); err != nil {
					return nil, err
				}
				next++
				continue
			}
		}
		damaged = append(damaged, strconv.Itoa(next))
		if len(damaged) > maxDamaged || len(damaged) == pages {
			return nil, unreadable(result)
		}
		if err := w.add(ctx, &page{number: next}); err != nil {
			return nil, err
		}
		next++
	}
	return damaged, w.flush(ctx)
}

// counted wraps emit: it counts in info what is emitted, and fails above the limit.
func counted(info *extract.Info, limit int, emit extract.Emit) extract.Emit {
	return func(b extract.Block) error {
		info.Characters += utf8.RuneCountInString(b.Text)
		if b.Table != nil {
			for _, row := range b.Table.Rows {
				for _, c := range row {
					info.Characters += utf8.RuneCountInString(c.Text)
				}
			}
		}
		if info.Characters > limit {
			return extract.TooManyCharacters(limit)
		}
		return emit(b)
	}
}

// failure gives an error a class if it has none.
func failure(err error) error {
	if _, ok := errors.AsType[*taskerr.Error](err); ok {
		return err
	}
	if missing, ok := errors.AsType[*child.NotInstalledError](err); ok {
		// It passes: while a package is upgraded its programs are missing, and the next attempt may be another machine's.
		return &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Message: missing.Error(), Cause: err,
			Hint: "apt install " + debianPackage + " on the worker's machine; async-worker doctor shows what else it lacks",
		}
	}
	if words, ok := errors.AsType[*tooManyWordsError](err); ok {
		return &taskerr.Error{Class: taskerr.QuotaExceeded, Message: words.Error(), Cause: err}
	}
	if errors.Is(err, errToken) {
		return taskerr.Errorf(taskerr.CorruptionDetected, "the PDF has a word that is too long to read: %w", err)
	}
	return fmt.Errorf("extract the PDF: %w", err)
}
