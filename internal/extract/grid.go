package extract

// maxGrid limits the columns in which cells are repeated; real tables have fewer. Cells beyond it occur once.
const maxGrid = 1024

// maxRepeat is the longest text, in bytes, that is repeated in the positions that its cell spans. Without it a
// small file could become an endless one.
const maxRepeat = 200

// maxPositions limits the positions of a table in which cells are repeated. The rows after those have each cell once.
const maxPositions = 1 << 18

// Grid expands the table's cells: row r of the result has the text of each column of row r. A cell that spans
// several positions is repeated in each, so that every row can be read by itself; a long one is only in the
// first. Rows may differ in length.
func (t *Table) Grid() [][]string {
	return t.grid(func(c Cell) string { return c.Text }, func(text string) string { return text })
}

// grid expands the cells as Grid does. The first position of a cell has what first returns for it, the others what
// again returns for its text.
func (t *Table) grid(first func(Cell) string, again func(string) string) [][]string {
	grid := make([][]string, len(t.Rows))
	open := map[int]*span{} // by column: cells of earlier rows that extend into this one
	repeats := 0
	for r, row := range t.Rows {
		if repeats > maxPositions {
			grid[r] = once(row, first)
			continue
		}
		grid[r] = spread(row, open, first, again)
		repeats += len(grid[r]) - len(row)
	}
	return grid
}

// once returns the cells of a row without their spans.
func once(row []Cell, first func(Cell) string) []string {
	line := make([]string, len(row))
	for i, cell := range row {
		line[i] = first(cell)
	}
	return line
}

// span is the rest of a cell that extends downward.
type span struct {
	text string
	rows int // remaining
}

func spread(row []Cell, open map[int]*span, first func(Cell) string, again func(string) string) []string {
	var line []string
	// carry fills the positions of cells from above, from the current column on.
	carry := func() {
		for s := open[len(line)]; s != nil; s = open[len(line)] {
			column := len(line)
			line = append(line, s.text)
			if s.rows--; s.rows == 0 {
				delete(open, column)
			}
		}
	}
	for _, cell := range row {
		carry()
		text, repeat := first(cell), ""
		if cell.ColSpan > 1 || cell.RowSpan > 1 {
			repeat = again(repeated(cell.Text))
		}
		for i := range max(cell.ColSpan, 1) {
			if i > 0 && len(line) >= maxGrid {
				break
			}
			if cell.RowSpan > 1 {
				open[len(line)] = &span{text: repeat, rows: cell.RowSpan - 1}
			}
			line = append(line, text)
			text = repeat
		}
	}
	carry()
	return fillGap(line, open)
}

// fillGap fills a row that ended early up to the open cells to its right.
func fillGap(line []string, open map[int]*span) []string {
	last := -1
	for column := range open {
		if column >= len(line) {
			last = max(last, column)
		}
	}
	for len(line) <= last {
		column := len(line)
		s := open[column]
		if s == nil {
			line = append(line, "")
			continue
		}
		line = append(line, s.text)
		if s.rows--; s.rows == 0 {
			delete(open, column)
		}
	}
	return line
}

func repeated(text string) string {
	if len(text) > maxRepeat {
		return ""
	}
	return text
}
