package xlsx

import (
	"cmp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/rowspan"
)

// region is a group of adjacent cells with the gaps between them: a table. Open regions share no column.
type region struct {
	left, right int // columns
	last        int // last row, including merged cells
	rows        []row
	held        int             // bytes of rows
	table       *rowspan.Writer // set once its first slice was emitted
	origin      int             // first column of its slices
	closed      bool
	order       int // by their first cells
}

// finder finds the regions of a sheet row by row and emits them in the order of their first cells.
type finder struct {
	sheet *sheet
	queue []*region // in the order of their first cells
	begun int       // number of regions so far
	open  []*region // regions that the next row may continue, from the left
	spans []hanging // merged cells that extend below their row, from the left; they share no column
	held  int       // bytes
}

// hanging is a merged cell that extends downward.
type hanging struct{ from, to, last int } // columns; row

// run is a sequence of adjacent cells in a row.
type run struct {
	left, right int
	last        int // last row of its merged cells
	cells       []cell
}

// row adds the next row that is not empty.
func (f *finder) row(w row) error {
	if err := f.sheet.r.ctx.Err(); err != nil {
		return f.sheet.stopped()
	}
	f.spans = slices.DeleteFunc(f.spans, func(h hanging) bool { return h.last < w.number })
	f.open = slices.DeleteFunc(f.open, func(g *region) bool {
		g.closed = g.closed || g.last < w.number-1
		return g.closed
	})
	runs, regions := f.runs(w), f.open
	f.open = nil
	for len(runs) > 0 || len(regions) > 0 {
		var group run
		var reached []*region
		group, reached, runs, regions = leftmost(runs, regions)
		if len(group.cells) == 0 { // only a merged cell of the row touches the region
			f.open = append(f.open, reached...)
			continue
		}
		group.last = max(group.last, w.number)
		f.open = append(f.open, f.join(w.number, group, reached))
	}
	return f.flush()
}

// leftmost removes the leftmost of runs and regions, with all that overlap it, and returns the cells as one
// run.
func leftmost(runs []run, regions []*region) (group run, reached []*region, moreRuns []run, moreRegions []*region) {
	group.left = maxColumns + 1
	if len(runs) > 0 {
		group.left = runs[0].left
	}
	if len(regions) > 0 {
		group.left = min(group.left, regions[0].left)
	}
	for group.right = group.left; ; {
		switch {
		case len(runs) > 0 && runs[0].left <= group.right:
			group.right, group.last = max(group.right, runs[0].right), max(group.last, runs[0].last)
			group.cells = append(group.cells, runs[0].cells...)
			runs = runs[1:]
		case len(regions) > 0 && regions[0].left <= group.right:
			group.right = max(group.right, regions[0].right)
			reached = append(reached, regions[0])
			regions = regions[1:]
		default:
			return group, reached, runs, regions
		}
	}
}

// runs splits a row into runs. Positions that merged cells cover count as cells.
func (f *finder) runs(w row) []run {
	pieces := make([]run, 0, len(w.cells)+len(f.spans))
	for _, h := range f.spans {
		pieces = append(pieces, run{left: h.from, right: h.to, last: h.last})
	}
	above, end := f.spans, 0
	for _, c := range w.cells {
		if c.column <= end || covered(above, c.column) {
			continue
		}
		piece := run{left: c.column, right: c.column, last: w.number, cells: []cell{c}}
		if merged, ok := f.sheet.merges[place{w.number, c.column}]; ok {
			end = merged.column
			piece.right, piece.last = end, merged.row
			if merged.row > w.number {
				f.spans = append(f.spans, hanging{c.column, end, merged.row})
			}
		}
		pieces = append(pieces, piece)
	}
	slices.SortFunc(f.spans, func(a, b hanging) int { return cmp.Compare(a.from, b.from) })
	slices.SortStableFunc(pieces, func(a, b run) int { return cmp.Compare(a.left, b.left) })
	var runs []run
	for _, p := range pieces {
		if n := len(runs); n > 0 && p.left <= runs[n-1].right+1 {
			before := &runs[n-1]
			before.right, before.last = max(before.right, p.right), max(before.last, p.last)
			before.cells = append(before.cells, p.cells...)
			continue
		}
		runs = append(runs, p)
	}
	return runs
}

func covered(spans []hanging, column int) bool {
	n, found := slices.BinarySearchFunc(spans, column,
		func(h hanging, want int) int { return cmp.Compare(h.from, want) })
	return found || n > 0 && spans[n-1].to >= column
}

// join adds the group's cells, and the cells of the other regions, to the region that started first. A region
// with emitted slices can't be merged into another, so the group then continues the first region that extends
// as far to the left.
func (f *finder) join(number int, group run, regions []*region) *region {
	slices.SortFunc(regions, func(a, b *region) int { return cmp.Compare(a.order, b.order) })
	var into *region
	for _, g := range regions {
		switch {
		case into == nil && (g.table == nil || g.origin <= group.left):
			into = g
			continue
		case into != nil && g.table == nil && into.table == nil:
			into.take(g)
		}
		g.closed = true
	}
	if into == nil {
		f.begun++
		into = &region{left: group.left, right: group.right, order: f.begun}
		f.queue = append(f.queue, into)
	}
	into.left, into.right, into.last = min(into.left, group.left), max(into.right, group.right),
		max(into.last, group.last)
	w := row{number, group.cells}
	into.rows = append(into.rows, w)
	into.held += w.size()
	f.held += w.size()
	return into
}

// take moves the rows of another region to this one.
func (g *region) take(other *region) {
	rows := make([]row, 0, len(g.rows)+len(other.rows))
	a, b := g.rows, other.rows
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].number < b[0].number:
			rows, a = append(rows, a[0]), a[1:]
		case len(a) == 0 || b[0].number < a[0].number:
			rows, b = append(rows, b[0]), b[1:]
		default:
			both := append(slices.Clone(a[0].cells), b[0].cells...)
			slices.SortFunc(both, func(x, y cell) int { return cmp.Compare(x.column, y.column) })
			rows, a, b = append(rows, row{a[0].number, both}), a[1:], b[1:]
		}
	}
	g.rows, g.held = rows, g.held+other.held
	other.rows, other.held = nil, 0
	g.left, g.right, g.last = min(g.left, other.left), max(g.right, other.right), max(g.last, other.last)
}

// flush emits the complete regions and, if too much is held, the start of the first open one.
func (f *finder) flush() error {
	for len(f.queue) > 0 {
		first := f.queue[0]
		if !first.closed && f.held <= maxHeld {
			return nil
		}
		if len(first.rows) == 0 {
			first.closed = true
		}
		f.held -= first.held
		if err := f.sheet.region(first); err != nil {
			return err
		}
		if first.closed {
			f.queue = f.queue[1:]
			f.open = slices.DeleteFunc(f.open, func(g *region) bool { return g == first })
		}
	}
	return nil
}

// finish emits the remaining regions.
func (f *finder) finish() error {
	for _, g := range f.queue {
		g.closed = true
	}
	return f.flush()
}
