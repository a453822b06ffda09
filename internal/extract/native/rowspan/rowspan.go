// Package rowspan writes tables whose cells span rows, in slices of a bounded size.
package rowspan

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	maxHeld   = 16 << 20 // bytes of rows held back because a cell spans them
	maxColumn = 16_384   // the columns whose cells continue in the next slice, as many as a sheet has
	maxOpen   = 1024     // cells that extend below a row; more are not followed, because each row would cost as much
	maxText   = 200      // bytes; a longer text is not repeated, see extract.Table.Grid
)

// Writer is a TableWriter of a table whose cells may span rows. Where a slice ends within such a cell, the next slice begins
// with a cell of the same text for the rest of its rows: its rows have their columns, and can be read by themselves.
type Writer struct {
	*extract.TableWriter
	rows int    // so far
	open []span // cells that may extend below the last row, from the left
	cut  bool   // the next row begins a slice
}

// span is a cell that spans rows.
type span struct {
	column, width int
	last          int // row
	text          string
}

// New returns a Writer. The blocks get their page, box and language from like.
func New(emit extract.Emit, like extract.Block) *Writer {
	return &Writer{TableWriter: extract.NewTableWriter(emit, like)}
}

// Row adds a row. It has no cells at the positions that cells above it span.
func (w *Writer) Row(cells []extract.Cell, header bool) {
	if w.cut || slices.ContainsFunc(cells, func(c extract.Cell) bool { return c.RowSpan > 1 }) {
		cells = w.place(cells)
	}
	w.rows++
	w.TableWriter.Row(cells, header)
}

// End ends a slice that is full. It ends within cells that span rows only after maxHeld bytes, because a small file can state
// a span of any length; apart reports that no cell spans its end.
func (w *Writer) End(apart bool) error {
	if w.Full() && apart || w.Held() > maxHeld {
		return w.Flush()
	}
	return nil
}

// Flush emits the rows so far, if any.
func (w *Writer) Flush() error {
	w.cut = true
	return w.TableWriter.Flush()
}

// Frame emits the rows so far, and then the blocks of a row that is a frame. The rows after it are another table.
func (w *Writer) Frame(blocks []extract.Block) error {
	w.rows, w.open, w.cut = 0, nil, false
	return w.TableWriter.Frame(blocks)
}

// place finds the columns of the row's cells and returns the cells of the row, with those that continue from the slice before.
func (w *Writer) place(cells []extract.Cell) []extract.Cell {
	above := slices.DeleteFunc(w.open, func(s span) bool { return s.last < w.rows })
	w.open = nil
	var placed []extract.Cell
	column := 0
	pass := func(s span) {
		for ; w.cut && column < s.column; column++ {
			placed = append(placed, extract.Cell{})
		}
		if w.open = append(w.open, s); w.cut {
			placed = append(placed, s.rest(w.rows))
		}
		column = s.column + s.width
	}
	for _, c := range cells {
		for ; len(above) > 0 && above[0].column <= column; above = above[1:] {
			if above[0].column == column { // else a wide cell is above it: the file is damaged
				pass(above[0])
			}
		}
		placed = append(placed, c)
		width := max(c.ColSpan, 1)
		if c.RowSpan > 1 && column < maxColumn && len(w.open) < maxOpen {
			w.open = append(w.open, span{column: column, width: width, last: w.rows + c.RowSpan - 1, text: c.Text})
		}
		column += width
	}
	for _, s := range above {
		if s.column >= column {
			pass(s)
		}
	}
	w.cut = false
	return placed
}

// rest returns the cell from a row on.
func (s span) rest(row int) extract.Cell {
	var c extract.Cell
	if len(s.text) <= maxText {
		c.Text = s.text
	}
	if s.width > 1 {
		c.ColSpan = s.width
	}
	if rows := s.last - row + 1; rows > 1 {
		c.RowSpan = rows
	}
	return c
}
