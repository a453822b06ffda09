package pdf

import (
	"cmp"
	"slices"
)

// lattice is the cells that a frame's lines make.
type lattice struct {
	box

	xs, ys  []float64 // the edges of columns and rows
	cells   []ruledCell
	at      []int // index of the cell at each place, row by row
	ragged  bool  // a cell isn't a rectangle
	crowded bool  // a cell has rows of amounts
	parted  bool  // columns were cut between amounts
	looks   *effort
}

// ruledCell is a cell: columns from to to, rows top to bottom, all included.
type ruledCell struct {
	from, to, top, bottom int
	words                 []word
}

// The bounds of a table.
const (
	maxLatticeColumns = 60
	maxLatticeRows    = 600
	leastColumn       = 5.0 // points; a narrower column is a double line
	leastRow          = 4.0
)

// newLattice returns the lattice of a frame, or nil if there is none.
func newLattice(f frame) *lattice {
	g := &lattice{
		box: f.box,
		xs:  edgesOf(f.down, f.left, f.right, leastColumn),
		ys:  edgesOf(f.across, f.top, f.bottom, leastRow),
	}
	columns, rows := len(g.xs)-1, len(g.ys)-1
	if !whole(f.across, f.width()) && !whole(f.down, f.height()) || columns < 1 || rows < 1 || columns > maxLatticeColumns || rows > maxLatticeRows {
		return nil
	}
	sides, edges := walls(f.down, g.xs, g.ys), walls(f.across, g.ys, g.xs)
	if !bounded(edges, g.xs) && !bounded(sides, g.ys) {
		return nil
	}
	g.join(sides, edges)
	return g
}

// bounded reports whether lines are drawn along most of the first and the last edge.
func bounded(walls [][]bool, along []float64) bool {
	const most = 0.7
	for _, edge := range [][]bool{walls[0], walls[len(walls)-1]} {
		drawn := 0.0
		for k, wall := range edge {
			drawn += float64(one(wall)) * (along[k+1] - along[k])
		}
		if drawn < most*(along[len(along)-1]-along[0]) {
			return false
		}
	}
	return true
}

// whole reports whether several lines are about as long as the frame. The axes of a drawing are one.
func whole(lines []ruling, length float64) bool {
	n := 0
	for _, l := range lines {
		n += one(l.to-l.from >= 0.7*length)
	}
	return n > 1
}

// edgesOf returns where columns or rows begin and end: at the lines, and where the lines that cross them end.
func edgesOf(lines []ruling, first, last, least float64) []float64 {
	all := make([]float64, 0, len(lines)+2)
	for _, l := range lines {
		all = append(all, l.at)
	}
	slices.Sort(all)
	out := []float64{first}
	for _, x := range all {
		if x-out[len(out)-1] >= least {
			out = append(out, x)
		}
	}
	switch n := len(out); {
	case last-out[n-1] >= least:
		out = append(out, last)
	case n > 1:
		out[n-1] = last
	}
	return out
}

// nearest returns the index of the edge next to v, and whether it is close.
func nearest(edges []float64, v float64) (int, bool) {
	i, _ := slices.BinarySearch(edges, v)
	if i == len(edges) || i > 0 && v-edges[i-1] < edges[i]-v {
		i--
	}
	return i, abs(edges[i]-v) <= max(leastColumn, leastRow)
}

// walls reports for each edge and each interval of the other direction whether a line separates the cells there.
func walls(lines []ruling, edges, along []float64) [][]bool {
	out := make([][]bool, len(edges))
	for i := range out {
		out[i] = make([]bool, len(along)-1)
	}
	for _, l := range lines {
		i, ok := nearest(edges, l.at)
		if !ok {
			continue
		}
		first, _ := slices.BinarySearch(along, l.from)
		for k := max(0, first-1); k < len(along)-1 && along[k] < l.to; k++ {
			covered := min(l.to, along[k+1]) - max(l.from, along[k])
			if covered >= 0.7*(along[k+1]-along[k]) {
				out[i][k] = true
			}
		}
	}
	return out
}

// join makes cells of the places that no line separates. down has a row for each edge of columns, across for each
// edge of rows.
func (g *lattice) join(down, across [][]bool) {
	columns, rows := len(g.xs)-1, len(g.ys)-1
	parent := make([]int, columns*rows)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for r := range rows {
		for c := range columns {
			if c > 0 && !down[c][r] {
				parent[root(r*columns+c)] = root(r*columns + c - 1)
			}
			if r > 0 && !across[r][c] {
				parent[root(r*columns+c)] = root((r-1)*columns + c)
			}
		}
	}
	index := map[int]int{}
	size := []int{}
	g.at = make([]int, columns*rows)
	for i := range g.at {
		r, c := i/columns, i%columns
		at, ok := index[root(i)]
		if !ok {
			at = len(g.cells)
			index[root(i)] = at
			g.cells = append(g.cells, ruledCell{from: c, to: c, top: r, bottom: r})
			size = append(size, 0)
		}
		g.at[i] = at
		cell := &g.cells[at]
		cell.from, cell.to = min(cell.from, c), max(cell.to, c)
		cell.top, cell.bottom = min(cell.top, r), max(cell.bottom, r)
		size[at]++
	}
	for i, c := range g.cells {
		if size[i] != (c.to-c.from+1)*(c.bottom-c.top+1) {
			g.ragged = true
		}
	}
}

// place puts each word into the cell at its middle, unless it is outside of the table.
func (g *lattice) place(words []word) {
	around, columns := g.around(), len(g.xs)-1
	for i := range words {
		if x, y := words[i].centerX(), words[i].centerY(); around.has(x, y) {
			c := &g.cells[g.at[interval(g.ys, y)*columns+interval(g.xs, x)]]
			c.words = append(c.words, words[i])
		}
	}
}

// around returns the box around the cells.
func (g *lattice) around() box { return box{g.xs[0], g.ys[0], g.xs[len(g.xs)-1], g.ys[len(g.ys)-1]} }

// outside returns the words whose middle is not in b.
func outside(words []word, b box) []word {
	out := make([]word, 0, len(words))
	for _, w := range words {
		if !b.has(w.centerX(), w.centerY()) {
			out = append(out, w)
		}
	}
	return out
}

// interval returns the index of the interval between edges that v is in.
func interval(edges []float64, v float64) int {
	i, _ := slices.BinarySearchFunc(edges, v, cmp.Compare)
	return min(max(i-1, 0), len(edges)-2)
}
