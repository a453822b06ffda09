package pdf

import (
	"slices"
	"strings"
)

// Some running heads are not above the text but beside it: in the margin, with the number of the page below them.

// sideMark is a segment in the margin beside a page's text.
type sideMark struct {
	box
	pattern string // its text without the parts that change between pages
}

const (
	maxSideMarks = 50
	inMargin     = 0.04 // of the page's characters: fewer are further to the left than its text, or to the right
)

// sideMarks returns the segments in the margins.
func (p *page) sideMarks(segs []segment) []sideMark {
	left, right := p.textEdges()
	var out []sideMark
	for _, s := range segs {
		if s.table == nil && (s.right < left || s.left > right) && len(out) < maxSideMarks {
			out = append(out, sideMark{s.box, patternOf(line{segments: []segment{s}})})
		}
	}
	return out
}

// textEdges returns the edges of nearly all text of the page.
func (p *page) textEdges() (left, right float64) {
	type edge struct {
		x float64
		n int
	}
	lefts, rights := make([]edge, 0, len(p.words)), make([]edge, 0, len(p.words))
	total := 0
	for _, w := range p.words {
		n := len(w.text)
		lefts, rights = append(lefts, edge{w.left, n}), append(rights, edge{-w.right, n})
		total += n
	}
	beyond := func(edges []edge) float64 {
		slices.SortFunc(edges, func(a, b edge) int {
			if a.x < b.x {
				return -1
			}
			return one(a.x > b.x)
		})
		left := inMargin * float64(total)
		for _, e := range edges {
			if left -= float64(e.n); left < 0 {
				return e.x
			}
		}
		return 0
	}
	return beyond(lefts), -beyond(rights)
}

// repeatedBeside reports whether a segment is a mark in the margin that other pages nearby have at the same place.
func (s *sheet) repeatedBeside(seg segment, others []*sheet) bool {
	const near = 2 // points
	mine := slices.IndexFunc(s.sides, func(m sideMark) bool { return m.box == seg.box })
	if mine < 0 || strings.TrimSpace(s.sides[mine].pattern) == "" {
		return false
	}
	need := 2
	for _, o := range others {
		if slices.ContainsFunc(o.sides, func(m sideMark) bool {
			return m.pattern == s.sides[mine].pattern && abs(m.left-seg.left) < near && abs(m.top-seg.top) < near
		}) {
			need--
		}
	}
	return need <= 0
}
