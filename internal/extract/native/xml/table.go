package xml

import (
	"encoding/xml"
	"errors"
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
	}
	w.tables++
	return nil
}

// startInTable begins a row or a cell.
func (w *walker) startInTable(role role, e xml.StartElement) error {
	if w.cells++; w.cells > maxCells {
		return taskerr.Errorf(taskerr.QuotaExceeded, "a table of the document has more than %d cells: split it into smaller tables",
			maxCells)
	}
	if role == row {
		w.table.Rows = append(w.table.Rows, nil)
		w.head = true
		return nil
	}
	w.buffer.Reset()
	w.head = w.head && (role == headCell || w.within(headRows))
	w.cell = cellOf(e)
	if n := w.span(attr(e, "namest"), attr(e, "nameend")); n > 0 {
		w.cell.ColSpan = n
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
