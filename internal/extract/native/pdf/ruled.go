package pdf

import (
	"cmp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// ruledTable is a table whose lines are drawn.
type ruledTable struct {
	box

	table   *extract.Table
	columns []float64 // edges
	size    float64   // of its text
	bold    bool      // its head is
	order   int       // of its first word in the page's content stream
}

// maxFrames limits how many frames of a page are looked at, the largest first.
const maxFrames = 200

// latticeLooks limits the looks at each word of a page for gaps between the columns of its frames: one that is split takes
// hardly more than half a look for each column.
const latticeLooks = 2 * maxLatticeColumns

// ruledTables finds the tables whose lines are drawn. It returns them from top to bottom, and the words that belong
// to none. columns are the edges of a table that ends the page before: its only row on this page counts as a table.
func (p *page) ruledTables(columns []float64) (tables []*ruledTable, rest []word) {
	rest = p.words
	if len(p.rules)+len(p.fills) < 2 {
		return nil, rest
	}
	rules := withoutBoxes(p.rules)
	across, down := rulings(rules)
	// The edges of areas in a colour are lines, too. But an area may also stress words within a cell: then the
	// lines alone are right.
	lines := frames(across, down)
	if len(p.fills) > 0 {
		both := slices.Clone(rules)
		for _, f := range withoutShading(p.fills, lines) {
			both = append(both, p.edgesOf(f)...)
		}
		tables, rest = p.framedTables(nil, rest, columns, frames(rulings(both)), true)
	}
	tables, rest = p.framedTables(tables, rest, columns, lines, false)
	across = slices.DeleteFunc(across, func(r ruling) bool {
		return slices.ContainsFunc(tables, func(t *ruledTable) bool { return t.contains(box{r.from, r.at, r.to, r.at}) })
	})
	striped, rest := p.stripedTables(across, down, rest)
	tables = append(tables, striped...)
	slices.SortFunc(tables, func(a, b *ruledTable) int {
		return cmp.Or(cmp.Compare(a.top, b.top), cmp.Compare(a.left, b.left))
	})
	return tables, rest
}

// edgesOf returns the edges of an area that may be a cell or a row.
func (p *page) edgesOf(b box) []rule {
	const least, most = 7, 0.6 // points, and a fraction of the page
	if b.width() < least || b.height() < least || b.height() > most*p.height {
		return nil
	}
	return []rule{
		{box: box{b.left, b.top, b.right, b.top}},
		{box: box{b.left, b.bottom, b.right, b.bottom}},
		{box: box{b.left, b.top, b.left, b.bottom}},
		{box: box{b.right, b.top, b.right, b.bottom}},
	}
}

// framedTables adds the tables of frames to those that were found before. filled says that edges of areas in a colour are
// among their lines.
func (p *page) framedTables(
	tables []*ruledTable, words []word, columns []float64, all []frame, filled bool,
) ([]*ruledTable, []word) {
	all = slices.DeleteFunc(all, func(f frame) bool { return len(f.across) < 2 || len(f.down) < 2 })
	slices.SortStableFunc(all, func(a, b frame) int {
		return cmp.Compare(b.width()*b.height(), a.width()*a.height())
	})
	looks := &effort{latticeLooks * len(words)}
	for _, f := range all[:min(len(all), maxFrames)] {
		if slices.ContainsFunc(tables, func(t *ruledTable) bool { return t.contains(f.box) || f.contains(t.box) }) {
			continue
		}
		g := newLattice(f)
		if g == nil {
			continue
		}
		g.looks = looks
		g.place(words)
		if filled && g.banded() {
			if f.goesOn(all) {
				continue
			}
			g.split()
		}
		if filled && g.unparted(p) || !g.plausible(sameColumns(g.xs, columns)) {
			continue
		}
		edges := slices.Clone(g.xs)
		g.part(p)
		g.label(words)
		around := g.around()
		if t := g.table(p, edges); t != nil && !t.unlabelled(words) {
			tables, words = append(tables, t), outside(words, around)
		}
	}
	return tables, words
}

// contains reports whether the middle of c is in b.
func (b box) contains(c box) bool { return b.has(c.centerX(), c.centerY()) }

// has reports whether a point is in b.
func (b box) has(x, y float64) bool {
	return x >= b.left && x <= b.right && y >= b.top && y <= b.bottom
}

// table returns the table of a lattice with the edges of columns that are drawn, or nil if it is a part of one whose text shows
// it.
func (g *lattice) table(p *page, edges []float64) *ruledTable {
	g.dropEmpty()
	t := &extract.Table{}
	var bold []bool
	for r := range len(g.ys) - 1 {
		rows, isBold := g.row(p, r)
		t.Rows = append(t.Rows, rows...)
		for range rows {
			bold = append(bold, isBold)
		}
	}
	if len(t.Rows) == 0 || oneColumn(t) || g.crowded {
		return nil
	}
	t.Headers = spannedHeaders(t.Rows, headers(t.Rows, bold))
	var words []word
	for _, c := range g.cells {
		words = append(words, c.words...)
	}
	order := words[0].order
	for _, w := range words {
		order = min(order, w.order)
	}
	return &ruledTable{box: g.box, table: t, columns: edges, size: lookOf(words).size, order: order, bold: bold[0]}
}

// sameColumns reports whether two tables have the same edges of columns.
func sameColumns(a, b []float64) bool {
	return len(a) > 1 && slices.EqualFunc(a, b, func(x, y float64) bool { return abs(x-y) < leastColumn })
}

// dropEmpty removes narrow columns and low rows without text of their own: the space between double lines.
func (g *lattice) dropEmpty() {
	const narrow, low, margin = 12, 7, 30 // margin: of the first and last column
	own := func(size int, of func(ruledCell) (int, int)) []bool {
		out := make([]bool, size)
		for _, c := range g.cells {
			if from, to := of(c); from == to && len(c.words) > 0 {
				out[from] = true
			}
		}
		return out
	}
	columns := own(len(g.xs)-1, func(c ruledCell) (int, int) { return c.from, c.to })
	for i := len(columns) - 1; i >= 0; i-- {
		limit := narrow
		if i == 0 || i == len(g.xs)-2 {
			limit = margin
		}
		if !columns[i] && g.xs[i+1]-g.xs[i] < float64(limit) && len(g.xs) > 3 {
			g.xs = slices.Delete(g.xs, i, i+1)
			for k := range g.cells {
				c := &g.cells[k]
				c.from, c.to = c.from-one(c.from > i), c.to-one(c.to >= i)
			}
		}
	}
	rows := own(len(g.ys)-1, func(c ruledCell) (int, int) { return c.top, c.bottom })
	for i := len(rows) - 1; i >= 0; i-- {
		if !rows[i] && g.ys[i+1]-g.ys[i] < low && len(g.ys) > 3 {
			g.ys = slices.Delete(g.ys, i, i+1)
			for k := range g.cells {
				c := &g.cells[k]
				c.top, c.bottom = c.top-one(c.top > i), c.bottom-one(c.bottom >= i)
			}
		}
	}
	g.cells = slices.DeleteFunc(g.cells, func(c ruledCell) bool { return c.to < c.from || c.bottom < c.top })
	slices.SortFunc(g.cells, func(a, b ruledCell) int {
		return cmp.Or(cmp.Compare(a.top, b.top), cmp.Compare(a.from, b.from))
	})
}

// row returns the cells that begin in a row of the lattice: one row of the table, or more if no lines separate
// them. bold reports whether all their text is.
func (g *lattice) row(p *page, r int) (rows [][]extract.Cell, bold bool) {
	first, _ := slices.BinarySearchFunc(g.cells, r, func(c ruledCell, r int) int { return cmp.Compare(c.top, r) })
	end := first
	bold = true
	for ; end < len(g.cells) && g.cells[end].top == r; end++ {
		bold = bold && (len(g.cells[end].words) == 0 || lookOf(g.cells[end].words).bold)
	}
	cells := g.cells[first:end]
	if rows := unruledRows(p, cells); rows != nil {
		return rows, false
	}
	row := make([]extract.Cell, 0, len(cells))
	for _, c := range cells {
		lines := cellLines(p, c.words)
		g.crowded = g.crowded || isCrowded(lines, 2-one(g.parted))
		made := cellOf(p.known, lines)
		if n := c.to - c.from + 1; n > 1 {
			made.ColSpan = n
		}
		if n := c.bottom - c.top + 1; n > 1 {
			made.RowSpan = n
		}
		row = append(row, made)
	}
	return [][]extract.Cell{row}, bold
}

// spannedHeaders returns the number of header rows with those that a cell of them covers.
func spannedHeaders(rows [][]extract.Cell, n int) int {
	if n == 0 || n >= len(rows) {
		return n
	}
	end := n
	for r, row := range rows[:n] {
		for _, c := range row {
			end = max(end, r+c.RowSpan)
		}
	}
	const most = 4
	if end > most || end >= len(rows) {
		return n
	}
	return end
}

// tableMark is the text of the word that stands for a table.
const tableMark = "\uFFFC"

// segment returns a segment that stands for the table while the page is cut into columns.
func (t *ruledTable) segment() segment {
	w := word{box: t.box, text: tableMark, style: style{size: max(t.size, 1)}, order: t.order}
	return segment{box: t.box, words: []word{w}, size: w.size, order: t.order, table: t}
}

// drawn reports whether a table with drawn lines is part of the line.
func (l line) drawn() bool {
	return slices.ContainsFunc(l.segments, func(s segment) bool { return s.table != nil })
}
