package pdf

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// region is a part of a page that is read from top to bottom: a column, or text across columns.
type region struct {
	box
	lines []line
}

// maxDepth limits how often a page is cut.
const maxDepth = 8

// readingOrder cuts a page into regions along the white gutters between columns and returns them in reading
// order. It is a recursive X-Y cut (Nagy, Seth, Viswanathan: "A prototype document image analysis system for
// technical journals", 1992). Lines that span a gutter, such as titles, separate the columns above from those
// below. Text side by side counts as columns only if it reads like text and not like the rows of a table. A
// page that exceeds the effort is cut no further.
func readingOrder(ctx context.Context, segs []segment, e *effort) ([]region, error) {
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.centerY(), b.centerY()) })
	for i := range segs {
		segs[i].alone = true
		for _, j := range near(segs, i) {
			if segs[i].sameLine(segs[j].box) {
				segs[i].alone = false
				break
			}
		}
	}
	return cut(ctx, segs, e, 0)
}

func cut(ctx context.Context, segs []segment, e *effort, depth int) ([]region, error) {
	if len(segs) == 0 {
		return nil, nil
	}
	if depth < maxDepth {
		parts, err := columns(ctx, segs, e)
		if err != nil {
			return nil, err
		}
		if len(parts) > 1 {
			var out []region
			for _, part := range parts {
				regions, err := cut(ctx, part, e, depth+1)
				if err != nil {
					return nil, err
				}
				out = append(out, regions...)
			}
			return out, nil
		}
	}
	r := region{lines: rows(segs)}
	for _, l := range r.lines {
		r.box = r.union(l.box)
	}
	return []region{r}, nil
}

// columns cuts segs, sorted by their middles, along the best gutter into bands of columns and the text between
// them, in reading order. It returns nil if there is no gutter.
func columns(ctx context.Context, segs []segment, e *effort) ([][]segment, error) {
	var best []band
	most := 0
	runs := shortRows(segs)
	for _, x := range gutters(segs) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !e.spend(len(segs)) {
			break
		}
		if bands, gain := bandsAt(segs, runs, x, e); gain > most {
			best, most = bands, gain
		}
	}
	if most == 0 {
		return nil, nil
	}
	var parts [][]segment
	var between []segment
	flush := func() {
		if len(between) > 0 {
			parts = append(parts, between)
		}
		between = nil
	}
	for _, b := range best {
		if !b.columns {
			between = append(between, b.all...)
			continue
		}
		flush()
		parts = append(parts, b.left, b.right)
	}
	flush()
	return parts, nil
}

// gutters returns the positions that few lines cover, compared with their surroundings.
func gutters(segs []segment) []float64 {
	const maxBins, most = 2000, 40
	if len(segs) == 0 {
		return nil
	}
	// Not union: it would skip a zero box, as from coordinates that are not numbers.
	left, right := math.Inf(1), math.Inf(-1)
	for _, s := range segs {
		left, right = min(left, s.left), max(right, s.right)
	}
	bin := max(1, (right-left)/maxBins)
	cover := make([]float64, int((right-left)/bin)+2)
	for _, s := range segs {
		// A difference array: the prefix sum up to a bin is its coverage.
		cover[int((s.left-left)/bin)] += s.height()
		cover[min(int((s.right-left)/bin)+1, len(cover)-1)] -= s.height()
	}
	type valley struct{ x, depth float64 }
	var valleys []valley
	sum, start, falling := 0.0, 0, false
	for i, d := range cover {
		if abs(d) < 1e-6 {
			continue
		}
		if d > 0 && falling && start > 0 {
			valleys = append(valleys, valley{left + bin*float64(start+i)/2, sum})
		}
		sum += d
		falling = d < 0
		start = i
	}
	slices.SortStableFunc(valleys, func(a, b valley) int { return cmp.Compare(a.depth, b.depth) })
	out := make([]float64, 0, most)
	for _, v := range valleys[:min(len(valleys), most)] {
		out = append(out, v.x)
	}
	return out
}

// band is a horizontal stripe of a page: two columns, or anything else.
type band struct {
	columns     bool
	left, right []segment
	all         []segment
}

// bandsAt cuts the page at x into bands. The gain is the number of segments in columns. A run of rows that
// crosses x as a table is a band of its own.
func bandsAt(segs []segment, runs rowRuns, x float64, e *effort) (bands []band, gain int) {
	var open band
	seen, acrossX := map[int]bool{}, runs.across(x, e)
	closeBand := func() {
		if len(open.all) == 0 {
			return
		}
		if open.columns = areColumns(open.left, open.right); open.columns {
			gain += len(open.all)
		}
		bands = append(bands, open)
		open = band{}
	}
	for _, s := range segs {
		if run, ok := runs.of[s.box]; ok && acrossX[run] {
			if !seen[run] {
				seen[run] = true
				closeBand()
				bands = append(bands, band{all: runs.segs[run]})
			}
			continue
		}
		if s.left < x-1 && s.right > x+1 && s.alone {
			closeBand()
			bands = append(bands, band{all: []segment{s}})
			continue
		}
		open.all = append(open.all, s)
		if s.centerX() < x {
			open.left = append(open.left, s)
		} else {
			open.right = append(open.right, s)
		}
	}
	closeBand()
	return bands, gain
}

// areColumns reports whether two sets of segments side by side are columns of text, read one after the other,
// rather than a table, read row by row.
func areColumns(left, right []segment) bool {
	if len(left) < 2 || len(right) < 2 {
		return false
	}
	l, r := sideOf(left), sideOf(right)
	fewer := min(l.rows, r.rows)
	gap := r.starts - l.ends
	if fewer < 2 || gap < 0.5*min(l.size, r.size) || min(l.width(), r.width()) < 4*min(l.size, r.size) {
		return false
	}
	if min(l.wordsPerRow, r.wordsPerRow) < 2.5 && fewer >= 3 && aligned(left, right) > 0.7 {
		return false // short entries in rows
	}
	// The writing order is the best evidence: programs write columns one after the other and tables row by row.
	switches := float64(switches(left, right)) / float64(2*fewer)
	prose := min(l.wordsPerRow, r.wordsPerRow) >= 4 && min(l.full, r.full) >= 0.5
	switch {
	case switches <= 0.25:
		return true
	case prose && aligned(left, right) < 0.5:
		return fewer >= 4
	default:
		return prose && fewer >= 10
	}
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

func sideOf(segs []segment) side {
	var s side
	lines := rows(slices.Clone(segs))
	words := 0
	sizes, lefts, rights := make([]float64, 0, len(lines)), make([]float64, 0, len(lines)),
		make([]float64, 0, len(lines))
	for _, l := range lines {
		s.box = s.union(l.box)
		words += len(l.words())
		sizes, lefts, rights = append(sizes, l.size), append(lefts, l.left), append(rights, l.right)
	}
	slices.Sort(lefts)
	slices.Sort(rights)
	outliers := len(lines) / 14
	s.starts, s.ends = lefts[outliers], rights[len(rights)-1-outliers]
	full := 0
	for _, l := range lines {
		if l.width() >= 0.8*(s.ends-s.starts) {
			full++
		}
	}
	s.rows, s.size = len(lines), median(sizes)
	s.wordsPerRow, s.full = float64(words)/float64(len(lines)), float64(full)/float64(len(lines))
	return s
}

// aligned returns the fraction of the shorter side's segments that share a line with one of the other side.
func aligned(left, right []segment) float64 {
	if len(left) > len(right) {
		left, right = right, left
	}
	n, from := 0, 0
	for _, s := range left {
		for from < len(right) && right[from].centerY() < s.centerY()-0.25*s.height() {
			from++
		}
		if from < len(right) && abs(right[from].centerY()-s.centerY()) <= 0.25*s.height() {
			n++
		}
	}
	return float64(n) / float64(len(left))
}

// switches counts how often the page's content stream changes from one side to the other.
func switches(left, right []segment) int {
	type mark struct {
		order int
		right bool
	}
	marks := make([]mark, 0, len(left)+len(right))
	for _, s := range left {
		marks = append(marks, mark{s.order, false})
	}
	for _, s := range right {
		marks = append(marks, mark{s.order, true})
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.order, b.order) })
	n := 0
	for i := 1; i < len(marks); i++ {
		if marks[i].right != marks[i-1].right {
			n++
		}
	}
	return n
}
