package pdf

import (
	"cmp"
	"slices"
)

// areColumns reports whether two sets of segments side by side are columns of text, read one after the other,
// rather than a table, read row by row.
func (c *cutter) areColumns(left, right []int32) bool {
	if len(left) < 2 || len(right) < 2 {
		return false
	}
	l, r := c.sideOf(left), c.sideOf(right)
	fewer := min(l.rows, r.rows)
	gap := r.starts - l.ends
	if fewer < 2 || gap < 0.5*min(l.size, r.size) || min(l.width(), r.width()) < 4*min(l.size, r.size) {
		return false
	}
	if c.areAmountsOf(left, right) {
		return false
	}
	aligned := c.aligned(left, right)
	if min(l.wordsPerRow, r.wordsPerRow) < 2.5 && fewer >= 3 && aligned > 0.7 {
		return false // short entries in rows
	}
	// The writing order is the best evidence: programs write columns one after the other and tables row by row.
	switches := float64(c.switches(left, right)) / float64(2*fewer)
	prose := min(l.wordsPerRow, r.wordsPerRow) >= 4 && min(l.full, r.full) >= 0.5
	switch {
	case switches <= 0.25:
		return true
	case prose && aligned < 0.5:
		return fewer >= 4
	default:
		return prose && fewer >= 10
	}
}

// areAmountsOf reports whether the segments on the right are mostly amounts on the lines of those on the left: their labels.
func (c *cutter) areAmountsOf(left, right []int32) bool {
	amounts, beside, from := 0, 0, 0
	for _, i := range right {
		s := &c.segs[i]
		if slices.ContainsFunc(s.words, func(w word) bool { return !isAmount(w) && !isSign(w) }) {
			continue
		}
		amounts++
		for from < len(left) && c.segs[left[from]].centerY() < s.centerY()-0.25*s.height() {
			from++
		}
		beside += one(from < len(left) && abs(c.segs[left[from]].centerY()-s.centerY()) <= 0.25*s.height())
	}
	return amounts*10 >= len(right)*7 && beside*10 >= amounts*7
}

// side is the shape of one of two columns.
type side struct {
	box

	starts      float64 // edges of nearly all lines; a header may cross the gutter
	ends        float64
	rows        int
	size        float64
	wordsPerRow float64
	full        float64 // fraction of rows that are nearly as wide as the column
}

// sideOf returns the shape of segments, which are sorted by their middles.
func (c *cutter) sideOf(indexes []int32) side {
	var s side
	words := 0
	lefts, rights, sizes := c.lefts[:0], c.rights[:0], c.sizes[:0]
	var widths []float64
	for start := 0; start < len(indexes); {
		first := &c.segs[indexes[start]]
		row, size, most := first.box, first.size, 0
		end := start
		for ; end < len(indexes); end++ {
			seg := &c.segs[indexes[end]]
			if end > start && !beside(first.box, seg.box) {
				break
			}
			row = row.union(seg.box)
			words += len(seg.words)
			if len(seg.words) > most {
				size, most = seg.size, len(seg.words)
			}
		}
		s.box = s.union(row)
		lefts, rights, sizes = append(lefts, row.left), append(rights, row.right), append(sizes, size)
		widths = append(widths, row.width())
		start = end
	}
	s.rows = len(lefts)
	slices.Sort(lefts)
	slices.Sort(rights)
	outliers := s.rows / 14
	s.starts, s.ends = lefts[outliers], rights[s.rows-1-outliers]
	full := 0
	for _, w := range widths {
		full += one(w >= 0.8*(s.ends-s.starts))
	}
	s.size = median(sizes)
	s.wordsPerRow, s.full = float64(words)/float64(s.rows), float64(full)/float64(s.rows)
	c.lefts, c.rights, c.sizes = lefts, rights, sizes
	return s
}

// aligned returns the fraction of the shorter side's segments that share a line with one of the other side.
func (c *cutter) aligned(left, right []int32) float64 {
	if len(left) > len(right) {
		left, right = right, left
	}
	n, from := 0, 0
	for _, i := range left {
		s := &c.segs[i]
		for from < len(right) && c.segs[right[from]].centerY() < s.centerY()-0.25*s.height() {
			from++
		}
		n += one(from < len(right) && abs(c.segs[right[from]].centerY()-s.centerY()) <= 0.25*s.height())
	}
	return float64(n) / float64(len(left))
}

// mark is a segment on one of two sides.
type mark struct {
	order int
	right bool
}

// switches counts how often the page's content stream changes from one side to the other.
func (c *cutter) switches(left, right []int32) int {
	marks := c.marks[:0]
	for _, i := range left {
		marks = append(marks, mark{c.segs[i].order, false})
	}
	for _, i := range right {
		marks = append(marks, mark{c.segs[i].order, true})
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.order, b.order) })
	n := 0
	for i := 1; i < len(marks); i++ {
		n += one(marks[i].right != marks[i-1].right)
	}
	c.marks = marks
	return n
}
