package pdf

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Text can be on a page without being drawn (render mode 3, ISO 32000-1, 9.3.6). Over a scan it is what
// some OCR program read there; elsewhere nobody sees it, and so it is not part of the document.
//
// pdftotext prints it all the same and doesn't tell. pdftohtml leaves it out, unless it is told not to: so
// a page has such text when pdftohtml has fewer letters of it than pdftotext.

const (
	// missing letters of a page, as a share and a number, from which it is looked at: the programs don't
	// agree on every character.
	missingShare = 0.02
	missingLeast = 3
	// layerCoverage is the part of a page that images must cover for its invisible text to be theirs.
	layerCoverage = 0.5
)

// seesLess reports whether so few of the page's letters are drawn that some text must be invisible.
func (p *page) seesLess(drawn *runPage) bool {
	all, seen := 0, 0
	for _, w := range p.words {
		all += letters(w.text)
	}
	for _, r := range drawn.runs {
		seen += r.letters
	}
	return float64(all-seen) > max(missingLeast, missingShare*float64(all))
}

// findInvisible tells visible words from invisible ones. It returns the runs with the invisible ones
// among them.
func (p poppler) findInvisible(ctx context.Context, pg *page, drawn *runPage) *runPage {
	var all *runPage
	args := append([]string{"-hidden"}, p.runArgs(pg.number, pg.number)...)
	_, err := p.run(ctx, "pdftohtml", func(r io.Reader) error {
		_, err := readRuns(r, func(rp *runPage) error { all = rp; return nil })
		return err
	}, args...)
	if err != nil || all == nil || !pg.seesOnly(drawn, all) {
		return drawn
	}
	hidden := pg.markInvisible(drawn, all)
	if hidden == 0 {
		return drawn
	}
	if p.coverage(ctx, pg) >= layerCoverage {
		pg.layer = hidden*2 > len(pg.words)
		return all
	}
	pg.words = slices.DeleteFunc(pg.words, func(w word) bool { return w.invisible })
	pg.invisible = hidden
	return drawn
}

// seesOnly reports whether the runs that are not drawn are those that were missing.
func (p *page) seesOnly(drawn, all *runPage) bool {
	seen, total := 0, 0
	for _, r := range drawn.runs {
		seen += r.letters
	}
	for _, r := range all.runs {
		total += r.letters
	}
	return total > seen+missingLeast
}

// markInvisible marks the words that stand in a run that is not drawn, and in none that is. It returns
// how many these are.
func (p *page) markInvisible(drawn, all *runPage) int {
	type place struct {
		box
		start string
	}
	seen := map[place]int{}
	for _, r := range drawn.runs {
		seen[place{r.box, r.start}]++
	}
	var hidden []run
	for _, r := range all.runs {
		at := place{r.box, r.start}
		if seen[at] > 0 {
			seen[at]--
			continue
		}
		hidden = append(hidden, r)
	}
	dx, dy := shift(p, all)
	visible, invisible := indexRuns(drawn.runs, dx, dy), indexRuns(hidden, dx, dy)
	n := 0
	for i, w := range p.words {
		if _, ok := invisible.find(w.centerX(), w.centerY()); !ok {
			continue
		}
		if _, ok := visible.find(w.centerX(), w.centerY()); !ok {
			p.words[i].invisible = true
			n++
		}
	}
	return n
}

// coverage is the part of the page that its images cover, at most 1.
func (p poppler) coverage(ctx context.Context, pg *page) float64 {
	if pg.width <= 0 || pg.height <= 0 {
		return 0
	}
	area := 0.0
	page := strconv.Itoa(pg.number)
	result, err := p.run(ctx, "pdfimages", func(r io.Reader) error {
		lines := bufio.NewScanner(io.LimitReader(r, maxAbout))
		for lines.Scan() {
			area += imageArea(lines.Text())
		}
		return lines.Err()
	}, "-list", "-f", page, "-l", page, p.path)
	if err != nil || result.End != child.Exited {
		return 0
	}
	return min(area/(pg.width*pg.height), 1)
}

// The columns of pdfimages -list.
const (
	imageType   = 2
	imageWidth  = 3
	imageHeight = 4
	imageXPPI   = 12
	imageYPPI   = 13
	imageFields = 14
)

// imageArea is the area of an image on its page, in square points, from its size in pixels and their density.
func imageArea(line string) float64 {
	// An inline image has one word in the place of its object's two numbers.
	f := strings.Fields(strings.Replace(line, "[inline]", "- -", 1))
	if len(f) < imageFields || f[imageType] != "image" && f[imageType] != "stencil" {
		return 0
	}
	number := func(column int) float64 { v, _ := strconv.ParseFloat(f[column], 64); return v }
	x, y := number(imageXPPI), number(imageYPPI)
	if x <= 0 || y <= 0 {
		return 0
	}
	const pointsPerInch = 72
	return number(imageWidth) / x * number(imageHeight) / y * pointsPerInch * pointsPerInch
}
