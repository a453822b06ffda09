package pdf

import (
	"cmp"
	"slices"
)

// rowRuns are consecutive lines of several short segments each: the rows of tables, including tables across the
// columns of a page.
type rowRuns struct {
	segs    [][]int32   // their segments, by index
	of      []int       // the run of each segment; -1: none
	written [][]writing // of each run, in the order of the page's content stream
	extent  []box
}

// writing is a segment in the page's content stream.
type writing struct {
	order  int
	center float64
}

const (
	runRows  = 3 // minimum lines of a run
	runCells = 3 // minimum segments of each line: two are lines of two columns
	runWords = 4 // maximum words of a segment, averaged over a line
)

// shortRows returns the runs.
func shortRows(segs []segment) rowRuns {
	runs := rowRuns{of: make([]int, len(segs))}
	segs = slices.Clone(segs)
	for i := range segs {
		segs[i].index, runs.of[i] = i, -1
	}
	lines := rows(segs)
	for at := 0; at < len(lines); {
		end, rows := runFrom(lines, at)
		if rows >= runRows {
			runs.add(lines[at:end])
		}
		at = max(end, at+1)
	}
	return runs
}

// add adds the run of some lines.
func (r *rowRuns) add(lines []line) {
	var run []int32
	var written []writing
	var extent box
	for _, l := range lines {
		for _, s := range l.segments {
			r.of[s.index] = len(r.segs)
			run = append(run, int32(s.index))
			written = append(written, writing{s.order, s.centerX()})
		}
		extent = extent.union(l.box)
	}
	slices.SortStableFunc(written, func(a, b writing) int { return cmp.Compare(a.order, b.order) })
	r.segs, r.written, r.extent = append(r.segs, run), append(r.written, written), append(r.extent, extent)
}

// runFrom returns where a run that begins at a line ends, and its rows. Lines that go on with cells of the row above
// them are no rows.
func runFrom(lines []line, at int) (end, rows int) {
	row := -1
	for end = at; end < len(lines); end++ {
		gap := 0.0
		if end > at {
			gap = lines[end].top - lines[end-1].bottom
		}
		switch {
		case isShortRow(lines[end]) && gap < 2*lines[end].height():
			row = end
			rows++
		case row < 0 || gap > 0.5*lines[end].height() || !goesOn(lines[row], lines[end]):
			return end, rows
		}
	}
	return end, rows
}

// goesOn reports whether each segment of a line is below one of the row's, and only below that.
func goesOn(row, l line) bool {
	if len(l.segments) > len(row.segments) || len(row.segments) > maxColumns || !similar(row.size, l.size) ||
		row.math || l.math {
		return false
	}
	for _, s := range l.segments {
		below := 0
		for _, c := range row.segments {
			below += one(min(c.right, s.right)-max(c.left, s.left) > 0)
		}
		if below != 1 || len(s.words) > 2*runWords && !describes(row, l) {
			return false
		}
	}
	return true
}

// describes reports whether a line is the next one of a single cell of a row, which may be long: it begins where the cell does.
func describes(row, l line) bool {
	return len(l.segments) == 1 && len(row.segments) > runCells && slices.ContainsFunc(row.segments[1:], func(c segment) bool {
		return abs(c.left-l.left) < 0.2*l.size
	})
}

func isShortRow(l line) bool {
	words := 0
	for _, s := range l.segments {
		words += len(s.words)
	}
	return len(l.segments) >= runCells && words <= runWords*len(l.segments)
}

// across reports for each run whether it is on both sides of x and was written row by row. It looks at each
// segment of the runs around x once.
func (r rowRuns) across(out []bool, x float64, e *effort) []bool {
	for i, run := range r.written {
		if x <= r.extent[i].left || x >= r.extent[i].right {
			out = append(out, false)
			continue
		}
		e.spend(len(run))
		var sides [2]int // segments left and right of x
		switches, last := 0, -1
		for start := 0; start < len(run); {
			var here [2]int // of those written in a row, left before right
			for ; start < len(run) && (here == [2]int{} || run[start].order == run[start-1].order); start++ {
				here[one(run[start].center >= x)]++
			}
			for side, n := range here {
				if n > 0 {
					switches += one(last >= 0 && last != side)
					last = side
					sides[side] += n
				}
			}
		}
		fewer := min(sides[0], sides[1])
		out = append(out, fewer >= runRows && switches > fewer/2)
	}
	return out
}
