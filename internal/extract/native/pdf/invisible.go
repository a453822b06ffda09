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

// Text can be on a page without being drawn (render mode 3, ISO 32000-1, 9.3.6). Over a scan it is the text of
// an OCR program; elsewhere nobody sees it, so it is not part of the document.
//
// pdftotext prints such text without marking it. pdftohtml omits it by default. A page therefore has invisible
// text if pdftohtml prints fewer letters of it than pdftotext. Where the styles come from what the page draws, its render
// modes are known (see shown).

const (
	// Missing letters of a page, as a fraction and a number, above which it is examined: the programs don't
	// agree on every character.
	missingShare = 0.02
	missingLeast = 3
	// layerCoverage is the fraction of a page that images must cover for its invisible text to be their OCR
	// text.
	layerCoverage = 0.5
)

// drawsFewer reports whether so few of the page's letters are drawn that some text must be invisible.
func (p *page) drawsFewer(drawn *runPage) bool {
	all, seen := 0, 0
	for _, w := range p.words {
		all += letters(w.text)
	}
	for _, r := range drawn.runs {
		seen += r.letters
	}
	return float64(all-seen) > max(missingLeast, missingShare*float64(all))
}

// findInvisible marks the invisible words. It returns the runs including the invisible ones.
func (p poppler) findInvisible(ctx context.Context, pg *page, drawn *runPage) *runPage {
	var all *runPage
	args := append([]string{"-hidden"}, p.runArgs(pg.number, pg.number)...)
	_, err := p.run(ctx, "pdftohtml", func(r io.Reader) error {
		_, err := readRuns(r, func(rp *runPage) error { all = rp; return nil })
		return err
	}, args...)
	if err != nil || all == nil || !pg.explainsMissing(drawn, all) {
		return drawn
	}
	hidden := pg.markInvisible(drawn.runs, undrawn(drawn, all), all)
	return p.withoutInvisible(ctx, pg, drawn, all, hidden)
}

// withoutInvisible takes so many words that are marked invisible from a page, unless they are the text of its image.
// It returns the runs that are left.
func (p poppler) withoutInvisible(ctx context.Context, pg *page, drawn, all *runPage, hidden int) *runPage {
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

// shown is findInvisible for a page of whose runs it is known which ones are drawn.
func (p poppler) shown(ctx context.Context, pg *page, all *runPage) *runPage {
	isHidden := func(r run) bool { return r.hidden }
	if !slices.ContainsFunc(all.runs, isHidden) {
		return all
	}
	drawn := &runPage{number: all.number, width: all.width, height: all.height}
	drawn.runs = slices.DeleteFunc(slices.Clone(all.runs), isHidden)
	hidden := slices.DeleteFunc(slices.Clone(all.runs), func(r run) bool { return !r.hidden })
	return p.withoutInvisible(ctx, pg, drawn, all, pg.markInvisible(drawn.runs, hidden, all))
}

// explainsMissing reports whether the undrawn runs account for the missing letters.
func (p *page) explainsMissing(drawn, all *runPage) bool {
	seen, total := 0, 0
	for _, r := range drawn.runs {
		seen += r.letters
	}
	for _, r := range all.runs {
		total += r.letters
	}
	return total > seen+missingLeast
}

// undrawn returns the runs that are not among the drawn ones.
func undrawn(drawn, all *runPage) (hidden []run) {
	type place struct {
		box
		start string
	}
	seen := map[place]int{}
	for _, r := range drawn.runs {
		seen[place{r.box, r.start}]++
	}
	for _, r := range all.runs {
		at := place{r.box, r.start}
		if seen[at] > 0 {
			seen[at]--
			continue
		}
		hidden = append(hidden, r)
	}
	return hidden
}

// markInvisible marks the words that lie in a hidden run and in no drawn one, and returns their number.
func (p *page) markInvisible(drawn, hidden []run, all *runPage) int {
	dx, dy := shift(p, all)
	visible, invisible := indexRuns(drawn, dx, dy), indexRuns(hidden, dx, dy)
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

// coverage returns the fraction of the page that its images cover, at most 1.
func (p poppler) coverage(ctx context.Context, pg *page) float64 {
	if pg.width <= 0 || pg.height <= 0 {
		return 0
	}
	area := 0.0
	page := strconv.Itoa(pg.number)
	result, err := p.run(ctx, "pdfimages", func(r io.Reader) error {
		lines := bufio.NewScanner(io.LimitReader(r, maxInfo))
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

// imageArea returns the area of an image on its page in square points, from its size in pixels and its density.
func imageArea(line string) float64 {
	// An inline image has one word instead of its object's two numbers.
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
