package structure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Result is the score of one file.
type Result struct {
	File
	Score
	Err   error
	Got   []extract.Block
	Pages int           // zero: the format has none
	CPU   time.Duration // of this process and its children
}

// Measure reads all files and scores them. The error is the end of ctx.
func Measure(ctx context.Context, reader extract.Runner, files []File) ([]Result, error) {
	var results []Result
	for _, f := range files {
		r := Result{File: f}
		before := processor()
		src, err := extract.Open(f.Path, filepath.Base(f.Path))
		if err == nil {
			var info extract.Info
			info, err = reader.Extract(ctx, src, extract.Limits{}, func(b extract.Block) error {
				r.Got = append(r.Got, b)
				return nil
			})
			r.Pages, r.CPU = info.Pages, processor()-before
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.Err, r.Score = err, Compare(f.Reference(), f.plain(r.Got))
		results = append(results, r)
	}
	return results, nil
}

// The aims for PDF, and those for the other formats.
var (
	pdfAims   = aims{headings: 0.90, items: 0.90, cells: 0.90, shapes: 0.85, links: 0, words: 0.985, order: 0.98}
	otherAims = aims{headings: 0.97, items: 0.97, cells: 0.97, shapes: 0.97, links: 0.97, words: 0.97, order: 0.97}
)

type aims struct{ headings, items, cells, shapes, links, words, order float64 }

// Print prints the scores by a grouping of the files, and returns an error that says how many groups miss an aim.
func Print(w io.Writer, title string, results []Result, group func(File) string) error {
	groups := map[string]*Score{}
	var names []string
	for _, r := range results {
		name := group(r.File)
		if groups[name] == nil {
			groups[name] = &Score{}
			names = append(names, name)
		}
		groups[name].Add(r.Score)
	}
	slices.Sort(names)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tfiles\theadings\twithout level\titems\tcells\tshapes\tlinks\twords\torder\t\n", title)
	missed := 0
	for _, name := range names {
		s, miss := groups[name], ""
		if s.misses(aimsOf(name)) {
			missed++
			miss = "missed"
		}
		n := float64(s.Documents)
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\n", name, s.Documents, s.Headings.F1(),
			s.Levels.F1(), s.Items.F1(), s.Cells.F1(), s.Shapes.F1(), s.Links.F1(),
			s.Words/n, s.Order/n, miss)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if missed > 0 {
		return fmt.Errorf("%s: %d of %d groups miss an aim", title, missed, len(names))
	}
	return nil
}

// aimsOf returns the aims of a group, whose name begins with the format.
func aimsOf(name string) aims {
	if len(name) >= 3 && name[:3] == "pdf" {
		return pdfAims
	}
	return otherAims
}

func (s *Score) misses(a aims) bool {
	n := float64(s.Documents)
	return s.Headings.F1() < a.headings || s.Items.F1() < a.items || s.Cells.F1() < a.cells || s.Shapes.F1() < a.shapes ||
		s.Links.F1() < a.links || s.Words/n < a.words || s.Order/n < a.order
}

// Worst lists the files that scored lowest in one thing.
func Worst(w io.Writer, title string, results []Result, n int, of func(Score) float64) {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b Result) int { return cmp.Compare(of(a.Score), of(b.Score)) })
	fmt.Fprintf(w, "lowest %s:", title)
	for _, r := range sorted[:min(n, len(sorted))] {
		fmt.Fprintf(w, " %s %.2f;", r.Name(), of(r.Score))
	}
	fmt.Fprintln(w)
}

// Failures returns the errors of files that could not be read.
func Failures(results []Result) error {
	var all []error
	for _, r := range results {
		if r.Err != nil {
			all = append(all, fmt.Errorf("%s: %w", r.Name(), r.Err))
		}
	}
	return errors.Join(all...)
}

// Mistakes lists the headings and items of a file that were not found, with -, and those that are not there, with +.
func Mistakes(w io.Writer, r Result) {
	counts := map[string]int{}
	var keys []string
	count := func(blocks []extract.Block, by int) {
		for _, b := range blocks {
			if b.Kind != extract.Heading && b.Kind != extract.ListItem {
				continue
			}
			key := fmt.Sprintf("heading %d %s", b.Level, plain(b.Text))
			if b.Kind == extract.ListItem {
				key = "item " + plain(b.Text)
			}
			if _, seen := counts[key]; !seen {
				keys = append(keys, key)
			}
			counts[key] += by
		}
	}
	count(r.Reference(), -1)
	count(r.Got, +1)
	for _, key := range keys {
		if n := counts[key]; n != 0 {
			fmt.Fprintf(w, "%s\t%+d %s\n", r.Name(), n, key)
		}
	}
}
