package pdf

import "slices"

// label adds a column with the labels of rows that stand to the left of the lattice, among the words of the page: nearly all
// rows of amounts have one there, nothing else is beside the rows, and the head of the columns is in the lattice.
func (g *lattice) label(words []word) {
	const (
		near  = 30.0 // points between the longest label and the lattice
		least = 3    // rows with labels
	)
	beside := g.leftOf(words)
	left, right, labelled := g.left, 0.0, 0
	bare, named, amounts := g.bareRows()
	for r := range beside {
		if len(beside[r]) == 0 {
			continue
		}
		lines := rows(segmentsOf(beside[r]))
		if len(lines) != 1 || len(cellsOf(lines[0])) > 1 {
			return
		}
		labelled += one(amounts[r] && letters(lines[0].text()) > 0)
		left, right = min(left, lines[0].left), max(right, lines[0].right)
	}
	if labelled < least || labelled*5 < bare*4 || named == 0 || named > bare || right < g.left-near {
		return
	}
	columns := len(g.xs) - 1
	var at []int
	for r := range beside {
		at = append(append(at, len(g.cells)+r), g.at[r*columns:(r+1)*columns]...)
	}
	for i := range g.cells {
		g.cells[i].from, g.cells[i].to = g.cells[i].from+1, g.cells[i].to+1
	}
	for r, words := range beside {
		g.cells = append(g.cells, ruledCell{top: r, bottom: r, words: words})
	}
	g.at, g.xs, g.left = at, slices.Insert(g.xs, 0, left), left
}

// leftOf returns the words to the left of each row.
func (g *lattice) leftOf(words []word) [][]word {
	out := make([][]word, len(g.ys)-1)
	for _, w := range words {
		if y := w.centerY(); w.right <= g.left && y > g.top && y < g.bottom {
			r := interval(g.ys, y)
			out[r] = append(out[r], w)
		}
	}
	return out
}

// bareRows reports for each row whether its only text is amounts, and counts these rows and those with other text.
func (g *lattice) bareRows() (bare, named int, amounts []bool) {
	others := make([]bool, len(g.ys)-1)
	amounts = make([]bool, len(g.ys)-1)
	for _, c := range g.cells {
		other := slices.ContainsFunc(c.words, func(w word) bool { return !isAmount(w) && !isSign(w) })
		for r := c.top; r <= c.bottom; r++ {
			amounts[r] = amounts[r] || len(c.words) > 0
			others[r] = others[r] || other
		}
	}
	for r, other := range others {
		amounts[r] = amounts[r] && !other
		bare, named = bare+one(amounts[r]), named+one(other)
	}
	return bare, named, amounts
}

// unlabelled reports whether a table is only the amounts of rows whose labels are to its left, among the words of the page:
// lines below the sums of a few columns, or rows in a colour, frame these columns only.
func (t *ruledTable) unlabelled(words []word) bool {
	rows := len(t.table.Rows)
	for _, row := range t.table.Rows {
		for _, c := range row {
			if letters(c.Text) > 0 {
				return false
			}
		}
	}
	labels := 0
	for _, w := range words {
		labels += one(w.right <= t.left && w.centerY() > t.top && w.centerY() < t.bottom && letters(w.text) > 1)
	}
	return labels*2 >= rows
}

// isCrowded reports whether the lines of a cell are rows with so many amounts: lines frame a table, but don't part its cells.
func isCrowded(lines []line, amounts int) bool {
	const least = 3 // rows
	rows := 0
	for _, l := range lines {
		rows += one(amountsIn(cellsOf(l)) >= amounts)
	}
	return rows >= least
}

// collapsed reports whether a row has several lines of amounts: it is several rows.
func collapsed(row []cell) bool {
	const (
		least   = 3 // lines
		amounts = 2 // of a line
	)
	perLine := map[int]int{}
	lines := 0
	for _, c := range row {
		if c.isAmounts() {
			perLine[c.lineAt]++
			lines += one(perLine[c.lineAt] == amounts)
		}
	}
	return lines >= least
}
