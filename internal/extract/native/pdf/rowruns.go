package pdf

import "slices"

// rowRuns are lines one below the other, each of several short segments: the rows of tables, also of those
// that stand across the columns of a page.
type rowRuns struct {
	segs [][]segment
	of   map[box]int // index into segs
}

const (
	runRows  = 3 // lines that a run has at least
	runCells = 3 // segments that each of them has at least: two are lines of two columns
	runWords = 4 // words that a segment has at most, on the average of a line
)

// shortRows finds the runs.
func shortRows(segs []segment) rowRuns {
	runs := rowRuns{of: map[box]int{}}
	lines := rows(slices.Clone(segs))
	for at := 0; at < len(lines); {
		end := at
		for end < len(lines) && isShortRow(lines[end]) && (end == at || lines[end].top-lines[end-1].bottom < 2*lines[end].height()) {
			end++
		}
		if end-at >= runRows {
			var run []segment
			for _, l := range lines[at:end] {
				run = append(run, l.segments...)
			}
			for _, s := range run {
				runs.of[s.box] = len(runs.segs)
			}
			runs.segs = append(runs.segs, run)
		}
		at = max(end, at+1)
	}
	return runs
}

func isShortRow(l line) bool {
	words := 0
	for _, s := range l.segments {
		words += len(s.words)
	}
	return len(l.segments) >= runCells && words <= runWords*len(l.segments)
}

// across says whether a run stands on both sides of x and was written row by row.
func (r rowRuns) across(run int, x float64) bool {
	var left, right []segment
	for _, s := range r.segs[run] {
		if s.centerX() < x {
			left = append(left, s)
		} else {
			right = append(right, s)
		}
	}
	return len(left) >= runRows && len(right) >= runRows && switches(left, right) > min(len(left), len(right))/2
}
