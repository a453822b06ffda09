package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/test/quality/structure"
)

// The aims. F1 is of words: how much of the text was extracted; order tells whether it is in reading order.
const (
	meanF1    = 0.97
	meanOrder = 0.93
	lowestF1  = 0.85
	ocrF1     = 0.90
)

// summary is over the scored documents; one that could not be read although it has a reference counts as zero.
type summary struct {
	count             int
	f1, order         float64 // means
	lowF1, lowOrder   float64
	worst, disordered string // the names of the lowest
}

func summarize(results []result) summary {
	s := summary{lowF1: 1, lowOrder: 1}
	for _, r := range results {
		if r.outcome != scored && r.outcome != failed {
			continue
		}
		s.count++
		s.f1 += r.f1
		s.order += r.order
		if r.f1 <= s.lowF1 {
			s.lowF1, s.worst = r.f1, r.name
		}
		if r.order <= s.lowOrder {
			s.lowOrder, s.disordered = r.order, r.name
		}
	}
	s.f1 /= max(float64(s.count), 1)
	s.order /= max(float64(s.count), 1)
	return s
}

// table prints a line for each document, then the mean and the lowest.
func table(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "document\tword F1\torder\theadings\twithout level\titems\tcells\tlinks\tseconds\t\n")
	for _, r := range results {
		f1, order, note := "-", "-", r.note
		if r.outcome == scored {
			f1, order = fmt.Sprintf("%.3f", r.f1), fmt.Sprintf("%.3f", r.order)
			if r.ocr {
				note = "OCR"
			}
		}
		parts := "-\t-\t-\t-\t-"
		if r.outcome == scored {
			parts = partsOf(r.parts)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.2f\t%s\n", r.name, f1, order, parts, r.took.Seconds(), note)
	}
	s := summarize(results)
	fmt.Fprintf(t, "mean of %d\t%.3f\t%.3f\t\t\t\t\t\t\t\n", s.count, s.f1, s.order)
	fmt.Fprintf(t, "lowest\t%.3f\t%.3f\t\t\t\t\t\t\t%s; %s\n", s.lowF1, s.lowOrder, s.worst, s.disordered)
	formats(t, results)
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// partsOf prints the F1 of each kind of part; a kind that neither document has is "-".
func partsOf(s structure.Score) string {
	var all []string
	for _, tally := range []structure.Tally{s.Headings, s.Levels, s.Items, s.Cells, s.Links} {
		text := "-"
		if tally.Wanted+tally.Found > 0 {
			text = fmt.Sprintf("%.3f", tally.F1())
		}
		all = append(all, text)
	}
	return strings.Join(all, "\t")
}

// formats prints a line for each format: means of words and order, and its parts counted together.
func formats(w io.Writer, results []result) {
	by := map[extract.Format]*structure.Score{}
	for _, r := range results {
		if r.outcome != scored {
			continue
		}
		if by[r.format] == nil {
			by[r.format] = &structure.Score{}
		}
		r.parts.Words, r.parts.Order = r.f1, r.order
		by[r.format].Add(r.parts)
	}
	fmt.Fprint(w, "\nformat\tword F1\torder\theadings\twithout level\titems\tcells\tlinks\tdocuments\t\n")
	for _, format := range slices.Sorted(maps.Keys(by)) {
		s := by[format]
		n := float64(s.Documents)
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%s\t%d\t\n", format, s.Words/n, s.Order/n, partsOf(*s), s.Documents)
	}
}

// judge returns an error that names every missed aim.
func judge(results []result) error {
	var missed []string
	miss := func(format string, args ...any) { missed = append(missed, fmt.Sprintf(format, args...)) }
	s := summarize(results)
	if s.count == 0 {
		return errors.New("no document has a reference")
	}
	if s.f1 < meanF1 {
		miss("the mean word F1 is %.3f, aim %.2f", s.f1, meanF1)
	}
	if s.order < meanOrder {
		miss("the mean order is %.3f, aim %.2f", s.order, meanOrder)
	}
	for _, r := range results {
		switch {
		case r.outcome == failed:
			miss("%s could not be read", r.name)
		case r.outcome == missing:
			miss("%s is of a format that has no extractor yet", r.name)
		case r.outcome != scored:
		case r.ocr && r.f1 < ocrF1:
			miss("%s, read by OCR, has a word F1 of %.3f, aim %.2f", r.name, r.f1, ocrF1)
		case r.f1 < lowestF1:
			miss("%s has a word F1 of %.3f, aim %.2f", r.name, r.f1, lowestF1)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d aims are missed:\n  %s", len(missed), strings.Join(missed, "\n  "))
	}
	return nil
}
