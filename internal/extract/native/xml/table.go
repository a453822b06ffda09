package xml

import (
	"encoding/xml"
	"errors"
	"slices"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxCells limits the cells and rows of a table, about 60 bytes each without their text: a table is held until it ends.
const maxCells = 1_000_000

// startTable begins a table; one within another is a part of its cell.
func (w *walker) startTable() error {
	if w.tables == 0 {
		if err := errors.Join(w.flush(w.innermost()), w.endLabel()); err != nil {
			return err
		}
		w.table = &extract.Table{}
		clear(w.reach[:])
	}
	w.tables++
	return nil
}

// startInTable begins a row or a cell.
func (w *walker) startInTable(role role, e xml.StartElement) error {
	index, _ := strconv.Atoi(attr(e, "Index"))
	if role == row {
		for len(w.table.Rows) < min(index-1, slices.Max(w.reach[:])) { // one without text is only of use to a cell that reaches it
			if err := w.addRow(); err != nil {
				return err
			}
		}
		w.head = true
		return w.addRow()
	}
	if err := w.skipTo(index); err != nil {
		return err
	}
	w.buffer.Reset()
	w.head = w.head && (role == headCell || w.within(headRows))
	w.cell = cellOf(e)
	if n := w.span(attr(e, "namest"), attr(e, "nameend")); n > 0 {
		w.cell.ColSpan = n
	}
	end := w.column + max(w.cell.ColSpan, 1)
	for ; w.column < end; w.column++ {
		if w.column < maxSpan && w.cell.RowSpan > 1 {
			w.reach[w.column] = len(w.table.Rows) - 1 + w.cell.RowSpan
		}
	}
	return w.count()
}

func (w *walker) addRow() error {
	w.table.Rows, w.column = append(w.table.Rows, nil), 0
	return w.count()
}

// count counts a cell or row.
func (w *walker) count() error {
	if w.cells++; w.cells > maxCells {
		return taskerr.Errorf(taskerr.QuotaExceeded, "a table of the document has more than %d cells: split it into smaller tables",
			maxCells)
	}
	return nil
}

// skipTo moves to the next free column, and from there to the one that a cell of Excel 2003 states (ss:Index, from 1): in
// the columns between that no cell above reaches it puts empty cells.
func (w *walker) skipTo(index int) error {
	row := len(w.table.Rows) - 1
	for ; row >= 0 && w.column < maxSpan; w.column++ {
		switch {
		case w.reach[w.column] > row:
			continue
		case w.column >= index-1:
			return nil
		}
		w.table.Rows[row] = append(w.table.Rows[row], extract.Cell{})
		if err := w.count(); err != nil {
			return err
		}
	}
	return nil
}

// endCell adds the cell that ends to its row; false: it is part of another cell.
func (w *walker) endCell() bool {
	if w.tables != 1 || len(w.table.Rows) == 0 {
		return false
	}
	rows := w.table.Rows
	w.cell.Text = joined(w.buffer.String())
	rows[len(rows)-1] = append(rows[len(rows)-1], w.cell)
	w.buffer.Reset()
	return true
}

// endTitle emits the title of the table that is open, which comes before its rows.
func (w *walker) endTitle() error {
	if w.tables != 1 || w.within(caption) {
		return nil
	}
	text := joined(w.label + " " + w.buffer.String())
	w.label = ""
	w.buffer.Reset()
	if text == "" {
		return nil
	}
	return w.out.Block(extract.Block{Kind: extract.Caption, Text: text})
}

func (w *walker) endTable() error {
	if w.tables--; w.tables > 0 {
		return nil
	}
	t, groups := w.table, w.groups
	w.table, w.groups, w.cells = nil, nil, 0
	w.buffer.Reset()
	if len(t.Rows) == 0 {
		return nil
	}
	align(t, groups)
	if ruled(t); len(t.Rows) == 0 {
		return nil
	}
	t.Headers = min(max(t.Headers, 1), extract.MaxHeaders)
	return w.out.Block(extract.Block{Kind: extract.TableKind, Table: t})
}

// cellOf returns an empty cell with what its element says about its place. DocBook and Excel count only the further
// rows and columns.
func cellOf(e xml.StartElement) extract.Cell {
	number := func(all, further string) int {
		n, _ := strconv.Atoi(attr(e, all))
		if m, _ := strconv.Atoi(attr(e, further)); m > 0 {
			n = m + 1
		}
		return min(max(n, 0), maxSpan)
	}
	return extract.Cell{ColSpan: number("colspan", "MergeAcross"), RowSpan: max(number("rowspan", "MergeDown"), number("", "morerows"))}
}

// maxSpan limits the columns or rows of a cell.
const maxSpan = 1000
