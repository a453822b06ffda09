package xlsx

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rowspan"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxTitles  = 3   // title rows above a table
	maxHeaders = 3   // rows
	maxRepeat  = 200 // bytes; a longer text of a merged cell is not repeated, see extract.Table.Grid
)

// region emits a region: a single cell or the title above a table as paragraphs, the rest as slices of a table.
func (s *sheet) region(g *region) error {
	rows := g.rows
	g.rows, g.held = nil, 0
	headers := 0
	if g.table == nil && len(rows) > 0 {
		if err := s.emitFloats(rows[0].number); err != nil {
			return err
		}
		titles := titleRows(rows, g.left)
		for _, w := range rows[:titles] {
			title := w.cells[0]
			if err := s.emit(extract.Block{
				Kind: extract.Paragraph, Text: title.text, Links: s.linksOf(w.number, title),
			}); err != nil {
				return err
			}
		}
		if rows = rows[titles:]; len(rows) == 0 {
			return nil
		}
		g.table, g.origin = rowspan.New(s.emit, extract.Block{}), g.left
		headers = s.headerRows(rows, g.left)
	}
	if len(rows) == 0 {
		return nil
	}
	e := &layer{sheet: s, rows: rows, left: g.origin, covered: map[int]int{}}
	for _, w := range rows {
		e.right = max(e.right, w.cells[len(w.cells)-1].column)
	}
	return e.emit(g.table, headers)
}

// titleRows counts the rows at the top that hold a single text on the left. A region of single cells is all
// title.
func titleRows(rows []row, left int) int {
	if len(rows) == 1 && len(rows[0].cells) == 1 {
		return 1
	}
	for n, w := range rows {
		switch {
		case len(w.cells) > 1:
			return n
		case w.cells[0].number || w.cells[0].column > left:
			return 0
		case n == maxTitles || len(rows) < n+3: // a table has at least a header and a row
			return 0
		}
	}
	return 0
}

// headerRows counts the header rows: the first, if it has no numbers but years or dates, and the rows that its merged
// cells span.
func (s *sheet) headerRows(rows []row, left int) int {
	numbers := slices.ContainsFunc(rows[0].cells, func(c cell) bool { return c.number })
	if len(rows) < 2 || numbers && !extract.PeriodHeader(values(rows, left)) {
		return 0
	}
	last := rows[0].number
	for _, c := range rows[0].cells {
		if end, ok := s.merges[place{rows[0].number, c.column}]; ok {
			last = max(last, end.row)
		}
	}
	if n := rowsUntil(rows, last); n <= maxHeaders && n < len(rows) {
		return n
	}
	return 1
}

// values returns the cells that tell a header of years or dates from data.
func values(rows []row, left int) [][]extract.Value {
	var all [][]extract.Value
	for _, w := range rows[:min(len(rows), extract.ComparedRows+1)] {
		var line []extract.Value
		for _, c := range w.cells {
			line = append(line, extract.Value{Column: c.column - left, Kind: c.kind(), Text: c.value()})
		}
		all = append(all, line)
	}
	return all
}

// rowsUntil counts the rows up to a row number.
func rowsUntil(rows []row, number int) int {
	n, _ := slices.BinarySearchFunc(rows, number+1, func(w row, want int) int { return cmp.Compare(w.number, want) })
	return n
}

// layer writes rows as a table.
type layer struct {
	sheet       *sheet
	rows        []row
	left, right int         // columns that are not empty
	covered     map[int]int // by column: the last row of a merged cell
	last        int         // the last row of any merged cell
}

func (e *layer) emit(table *rowspan.Writer, headers int) error {
	for i, w := range e.rows {
		cells, err := e.cells(i)
		if err != nil {
			return err
		}
		table.Row(cells, i < headers)
		if err := table.End(w.number >= e.last); err != nil {
			return err
		}
	}
	return table.Flush()
}

// cells returns the cells of row i. Positions covered by merged cells have none.
func (e *layer) cells(i int) ([]extract.Cell, error) {
	w := e.rows[i]
	var cells []extract.Cell
	column := e.left
	blanks := e.right - e.left + 1 - len(w.cells) // blanks the row needs when it is written out
	for _, c := range w.cells {
		for ; column < c.column; column++ {
			if e.covered[column] < w.number {
				cells = append(cells, extract.Cell{})
			}
		}
		made := extract.Cell{Text: c.text, Links: e.sheet.linksOf(w.number, c)}
		if end, ok := e.sheet.merges[place{w.number, c.column}]; ok {
			across := min(end.column, e.right) - c.column + 1
			down := max(rowsUntil(e.rows, end.row)-i, 1)
			for k := range across {
				e.covered[c.column+k] = end.row
			}
			if across > 1 {
				made.ColSpan = across
			}
			if down > 1 {
				made.RowSpan = down
				e.last = max(e.last, end.row)
			}
			if len(c.text) <= maxRepeat {
				blanks += (across*down - 1) * len(c.text)
			}
			column += across - 1
		}
		cells = append(cells, made)
		column++
	}
	if e.sheet.r.blanks -= max(blanks, 0); e.sheet.r.blanks < 0 {
		return nil, taskerr.Errorf(taskerr.QuotaExceeded,
			"the tables of the workbook have more than %d empty places: split it into smaller files, or bring its "+
				"cells closer together", e.sheet.r.limits.Characters)
	}
	return cells, nil
}

// stopped returns the cause of the cancellation.
func (s *sheet) stopped() error { return context.Cause(s.r.ctx) }
