package pdf

import "github.com/seed-7227ef26/async-worker/internal/pattern"

// noteMark matches the mark of a note below a table.
var noteMark = pattern.New(`^(\(?\d{1,2}\)?|\(?[a-z]\)|\*{1,3}|[†‡§])$`)

// notesBelow returns the first of a table's lines that is a note below it, or their number. Its mark and its text are apart
// as cells are, but it is text across the columns of the amounts above it.
func notesBelow(lines []line) int {
	const (
		leastWords = 7   // of a note
		part       = 0.5 // of the table's width
	)
	var extent box
	rows := 0 // with amounts in several cells
	for i, l := range lines {
		cells := cellsOf(l)
		marked := len(cells) > 1 && len(cells[0].words) == 1 && noteMark.MatchString(cells[0].words[0].text)
		if marked && rows < 2 {
			break // the rows are numbered
		}
		if marked && len(cells) == 2 && len(cells[1].words) >= leastWords && cells[1].width() > part*extent.width() {
			return i
		}
		rows += one(amountsIn(cells) > 1)
		extent = extent.union(l.box)
	}
	return len(lines)
}

// amountsIn counts the cells that are amounts.
func amountsIn(cells []cell) (n int) {
	for _, c := range cells {
		n += one(c.isAmounts())
	}
	return n
}
