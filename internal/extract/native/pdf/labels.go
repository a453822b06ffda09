package pdf

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

// isCrowded reports whether the lines of a cell are rows of amounts: lines frame a table, but don't part its cells.
func isCrowded(lines []line) bool {
	const (
		least   = 3 // rows
		amounts = 2 // of a row
	)
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
