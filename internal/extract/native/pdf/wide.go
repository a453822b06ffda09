package pdf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// Chinese and Japanese are written without spaces. Some programs set Latin letters and numbers within them a quarter
// of an em apart ("autospace"), which is as wide as a space that somebody typed.

// doubtfulGaps returns the words after gaps next to Chinese and Japanese that may be spaces or made by a program.
func (p *page) doubtfulGaps() (gaps []int) {
	for i, w := range p.words {
		if i == 0 || p.words[i-1].segment != w.segment {
			continue
		}
		before := p.words[i-1]
		last, _ := utf8.DecodeLastRuneInString(before.text)
		first, _ := utf8.DecodeRuneInString(w.text)
		switch gap := w.left - before.right; {
		case wideScript(last) == wideScript(first), !withoutSpace(last, first), gap < 0.08*w.em():
		case gap < 0.4*w.em():
			gaps = append(gaps, i)
		}
	}
	return gaps
}

// closeGaps closes the gaps before words where the page's glyphs have no space.
func (p *page) closeGaps(gaps []int, space func(before, after word) bool) {
	for _, i := range gaps {
		before, w := p.words[i-1], p.words[i]
		p.words[i].tight = !space(before, w)
	}
}

// spaceAt reports whether a space is between two neighbors, or nothing is known about them. A space is within a
// piece of the line; a gap between two pieces is none.
func spaceAt(lines []glyphLine, before, after word) bool {
	x, y := (before.right+after.left)/2, after.centerY()
	known := false
	at := -1 // the piece around the gap; lines of some fonts overlap
	for i, l := range lines {
		if y < l.top || y > l.bottom {
			continue
		}
		known = known || after.centerX() > l.left && after.centerX() < l.right
		if x > l.left && x < l.right && (at < 0 || abs(l.centerY()-y) < abs(lines[at].centerY()-y)) {
			at = i
		}
	}
	if at < 0 || abs(lines[at].centerY()-y) > 0.5*after.em() {
		return !known
	}
	text := strings.ReplaceAll(strings.ReplaceAll(lines[at].text, glyphBlank, "\t"), " ", "")
	return !strings.Contains(text, before.text+after.text)
}

// spaces returns a function that reports whether a glyph is between two neighbors, which can only be a space, or nothing
// is known about them.
func (p *runPage) spaces() func(before, after word) bool {
	index := indexRuns(p.runs, 0, 0)
	return func(before, after word) bool {
		x, y := (before.right+after.left)/2, after.centerY()
		known := false
		for _, i := range index.stripes[int(y)/stripe] {
			r := p.runs[i]
			if y < r.top || y > r.bottom || abs(r.centerY()-y) > 0.5*after.em() {
				continue
			}
			known = known || after.centerX() > r.left && after.centerX() < r.right
			within := func(g content.Gap) bool { return x > g.From && x < g.To }
			if x > r.left && x < r.right && !slices.ContainsFunc(r.gaps, within) {
				return true
			}
		}
		return !known
	}
}
