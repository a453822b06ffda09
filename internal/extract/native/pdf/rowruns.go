package pdf

import (
	"cmp"
	"slices"
)

// rowRuns are consecutive lines of several short segments each: the rows of tables, including tables across the
// columns of a page.
type rowRuns struct {
	segs    [][]segment
	of      map[box]int // index into segs
	written [][]segment // segs in the order of the page's content stream
}

const (
	runRows  = 3 // minimum lines of a run
	runCells = 3 // minimum segments of each line: two are lines of two columns
	runWords = 4 // maximum words of a segment, averaged over a line
)

// shortRows returns the runs.
func shortRows(segs []segment) rowRuns {
	runs := rowRuns{of: map[box]int{}}
	lines := rows(slices.Clone(segs))
	for at := 0; at < len(lines); {
		end, rows := runFrom(lines, at)
		if rows >= runRows {
			var run []segment
			for _, l := range lines[at:end] {
				run = append(run, l.segments...)
			}
			for _, s := range run {
				runs.of[s.box] = len(runs.segs)
			}
			runs.segs = append(runs.segs, run)
			written := slices.Clone(run)
			slices.SortStableFunc(written, func(a, b segment) int { return cmp.Compare(a.order, b.order) })
			runs.written = append(runs.written, written)
		}
		at = max(end, at+1)
	}
	return runs
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
		if below != 1 || len(s.words) > 2*runWords {
			return false
		}
	}
	return true
}

func isShortRow(l line) bool {
	words := 0
	for _, s := range l.segments {
		words += len(s.words)
	}
	return len(l.segments) >= runCells && words <= runWords*len(l.segments)
}

// across reports for each run whether it is on both sides of x and was written row by row. It looks at each
// segment once.
func (r rowRuns) across(x float64, e *effort) []bool {
	out := make([]bool, len(r.segs))
	for i, run := range r.written {
		e.spend(len(run))
		var sides [2]int // segments left and right of x
		switches, last := 0, -1
		for start := 0; start < len(run); {
			var here [2]int // of those written in a row, left before right
			for ; start < len(run) && (here == [2]int{} || run[start].order == run[start-1].order); start++ {
				here[one(run[start].centerX() >= x)]++
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
		out[i] = fewer >= runRows && switches > fewer/2
	}
	return out
}
