package pdf

import (
	"cmp"
	"slices"
	"strconv"
)

// segment is one of poppler's lines: text without a gap that could be a column gutter.
type segment struct {
	box
	words []word // from left to right
	size  float64
	order int         // position of its first word in the content stream
	alone bool        // no other segment is beside it on the page
	index int         // among the segments that are cut
	table *ruledTable // it stands for a table, and words for its place
}

// segmentsOf groups a page's words by poppler's lines. A lone bullet or number is prepended to its text, so
// that the gap after it isn't taken for a gutter.
func segmentsOf(words []word) []segment {
	var out []segment
	for start := 0; start < len(words); {
		end := start + 1
		for end < len(words) && words[end].segment == words[start].segment && !jumps(words[end-1], words[end]) {
			end++
		}
		if named := nameChars(words[start:end]); len(named) > 0 {
			out = append(out, newSegment(named))
		}
		start = end
	}
	out = attachMarkers(out)
	return slices.DeleteFunc(out, func(s segment) bool { return s.words[0].text == unnamedChar })
}

// nameChars makes an unnamed character at the start of a line a bullet and drops the others. One that is alone
// on its line stays: it may be a bullet whose text poppler put on another line.
func nameChars(words []word) []word {
	if !slices.ContainsFunc(words, func(w word) bool { return w.text == unnamedChar }) {
		return words
	}
	first := words[0]
	named := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.text == unnamedChar })
	if first.text != unnamedChar {
		return named
	}
	if len(named) > 0 {
		first.text = "•"
	}
	return append([]word{first}, named...)
}

func newSegment(words []word) segment {
	s := segment{words: words, order: words[0].order}
	if !slices.IsSortedFunc(words, byLeft) {
		s.words = slices.Clone(words)
		slices.SortStableFunc(s.words, byLeft)
	}
	for _, w := range words {
		s.box = s.union(w.box)
		s.order = min(s.order, w.order)
	}
	s.size = lookOf(words).size
	return s
}

func byLeft(a, b word) int { return cmp.Compare(a.left, b.left) }

// attachMarkers joins a segment that is only a list marker with the segment to its right.
func attachMarkers(segs []segment) []segment {
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.centerY(), b.centerY()) })
	gone := make([]bool, len(segs))
	for i, s := range segs {
		unnamed, symbol := s.words[0].text == unnamedChar, isSymbol(s.words[0])
		note := isNoteNumber(s)
		if len(s.words) != 1 || !unnamed && !symbol && !note && !s.words[0].numbers && !isBullet(s.words[0]) &&
			!ordinal.MatchString(s.words[0].text) {
			continue
		}
		best := -1
		for _, j := range near(segs, i) {
			gap := segs[j].left - s.right
			if note && !s.words[0].numbers && (gap > segs[j].size || s.size > 0.9*segs[j].size) ||
				symbol && !tellsProse(segs[j].words) {
				continue
			}
			if !gone[j] && gap > -1 && gap < 4*max(s.size, segs[j].size) && s.sameLine(segs[j].box) &&
				(best < 0 || s.nearer(segs[j], segs[best])) {
				best = j
			}
		}
		if best >= 0 {
			mark := slices.Clone(s.words)
			if unnamed {
				mark[0].text = "•"
			}
			if mark[0].height() > 1.5*segs[best].height() { // symbols of another font
				mark[0].top, mark[0].bottom = segs[best].top, segs[best].bottom
			}
			segs[best] = newSegment(append(mark, segs[best].words...))
			gone[i] = true
		}
	}
	kept := segs[:0]
	for i, s := range segs {
		if !gone[i] {
			kept = append(kept, s)
		}
	}
	return kept
}

// nearer reports whether a rather than b is the text of a marker: it is on the marker's line, or before b there.
func (s segment) nearer(a, b segment) bool {
	off := abs(a.centerY()-s.centerY()) - abs(b.centerY()-s.centerY())
	if abs(off) > 0.25*a.size {
		return off < 0
	}
	return a.left < b.left
}

// isNoteNumber reports whether a segment is a number that may be raised before a footnote.
func isNoteNumber(s segment) bool {
	if len(s.words) != 1 || len(s.words[0].text) > 3 {
		return false
	}
	_, err := strconv.Atoi(s.words[0].text)
	return err == nil
}

// near returns the other segments whose middle is within a line's height of segment i's. segs are sorted by
// their middles; the reach is bounded, so that a page of noise stays cheap.
func near(segs []segment, i int) []int {
	const reach = 64
	var out []int
	limit := max(segs[i].height(), 4)
	for j := i - 1; j >= 0 && i-j < reach && segs[i].centerY()-segs[j].centerY() < limit; j-- {
		out = append(out, j)
	}
	for j := i + 1; j < len(segs) && j-i < reach && segs[j].centerY()-segs[i].centerY() < limit; j++ {
		out = append(out, j)
	}
	return out
}
