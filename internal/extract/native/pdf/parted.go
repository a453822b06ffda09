package pdf

import "slices"

// part adds the edges of columns that only the text shows: lines often part groups of columns, whose heads are in one cell, and
// the amounts in each row of a group are apart at the same places.
func (g *lattice) part(p *page) {
	for c := len(g.xs) - 2; c >= 0; c-- {
		lines := g.linesIn(p, c)
		cuts := cutsOfAmounts(lines)
		if len(g.xs)+len(cuts) > maxLatticeColumns {
			continue
		}
		for _, x := range slices.Backward(cuts) {
			g.cut(c, x, lines)
		}
	}
}

// linesIn returns the lines of text of a column's cells, by the index of these.
func (g *lattice) linesIn(p *page, column int) map[int][]line {
	out := map[int][]line{}
	for i, c := range g.cells {
		if c.from == column && c.to == column && c.top == c.bottom && g.looks.spend(len(c.words)) {
			out[i] = cellLines(p, c.words)
		}
	}
	return out
}

// cutsOfAmounts returns where to cut a column with several amounts in most lines, or nil if it is another one.
func cutsOfAmounts(lines map[int][]line) []float64 {
	const least = 4 // lines
	amounts := map[int][]cell{}
	all := 0
	for _, own := range lines {
		all += len(own)
		for _, l := range own {
			cells := cellsApart(l, stripeGap)
			if n := amountsIn(cells); n == len(cells) {
				amounts[n] = append(amounts[n], cells...)
			}
		}
	}
	for n, cells := range amounts {
		if n < 2 || len(cells) < least*n || len(cells)*3 < all*n*2 {
			continue
		}
		if cuts := cutsBetween(cells, 1); len(cuts) == n-1 {
			return cuts
		}
	}
	return nil
}

// cut makes two columns of one. The cells with text on both sides in each line are cut, the others span both.
func (g *lattice) cut(column int, x float64, lines map[int][]line) {
	columns, all := len(g.xs)-1, len(g.cells)
	g.xs, g.parted = slices.Insert(g.xs, column+1, x), true
	var at []int
	for row := range slices.Chunk(g.at, columns) {
		at = append(append(at, row[:column+1]...), row[column:]...)
	}
	g.at = at
	for i := range all {
		c := &g.cells[i]
		c.from, c.to = c.from+one(c.from > column), c.to+one(c.to >= column)
		if len(lines[i]) == 0 || slices.ContainsFunc(lines[i], func(l line) bool { return !l.partedAt(x) }) {
			continue
		}
		before, after := sidesOf(c.words, x)
		g.at[c.top*(columns+1)+column+1] = len(g.cells)
		g.cells = append(g.cells, ruledCell{from: column + 1, to: c.to, top: c.top, bottom: c.bottom, words: after})
		c = &g.cells[i]
		c.to, c.words = column, before
	}
}

// partedAt reports whether a line of a table has a gap at x that is wider than a space.
func (l line) partedAt(x float64) bool {
	words := l.words()
	for i := range max(0, len(words)-1) {
		if cutIn([]float64{x}, words[i], words[i+1]) {
			return true
		}
	}
	return false
}
