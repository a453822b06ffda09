package odf

import (
	"encoding/xml"
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rowspan"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Files store the blanks up to the edge of the sheet as repetitions, and repetitions can make a small file
// endless.
const (
	maxColumns = 16_384  // of a sheet, and empty cells before those with text in a row
	maxCopies  = 1024    // of cells with text in a row
	maxRepeats = 1000    // of a row with text
	maxGap     = 256     // empty cells between two others; more count as blanks
	maxHeld    = 600_000 // repeated cells of the tables within cells, frames and notes
	maxRowSpan = 1 << 20
)

// row is a table:table-row being read. Empty cells at its end are dropped.
type row struct {
	cells  []extract.Cell
	gap    int                 // empty cells to add before the next one
	gaps   int                 // empty cells added so far
	copies int                 // repetitions of cells with text so far
	blocks []extract.Block     // of the last cell with text
	each   [][]extract.Block   // of the cells
	kinds  []extract.ValueKind // of the cells
	filled int                 // cells with text
	values int                 // filled cells that hold numbers, dates and the like instead of text
	tall   int                 // the largest row span
}

// table is a table:table being read within a text or a slide.
type table struct {
	out    *rowspan.Writer
	rows   int
	reach  int             // the first row that no cell above spans
	cells  int             // cells with text
	single []extract.Block // blocks of the only cell
}

// table reads a table:table. A table with a single cell is a frame around its content and is emitted as such.
func (r *reader) table(start xml.StartElement, emit extract.Emit) error {
	if r.styles.hidden("table", ooxml.Attr(start, "style-name")) {
		return r.d.Skip()
	}
	t := &table{out: rowspan.New(emit, extract.Block{Page: r.page})}
	if err := r.rows(false, func(w *row, header bool, repeats int) error {
		return r.tableRow(t, w, header,
			repeats)
	}); err != nil {
		return err
	}
	if t.cells != 1 || t.rows != 1 {
		return t.out.Flush()
	}
	for _, b := range t.single {
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) tableRow(t *table, w *row, header bool, repeats int) error {
	if w.filled == 0 && t.rows >= t.reach {
		return nil
	}
	if t.cells += w.filled; t.cells == 1 {
		t.single = append(t.single, w.blocks...)
	} else {
		t.single = nil
	}
	if blocks := extract.Framed(w.cells, w.each); blocks != nil && t.rows >= t.reach && repeats == 1 {
		t.rows++
		t.single = nil
		return t.out.Frame(blocks)
	}
	for i := range repeats {
		t.rows++
		t.reach = max(t.reach, t.rows-1+max(w.tall, 1))
		if err := r.spendRow(w, i); err != nil {
			return err
		}
		t.out.Row(append([]extract.Cell(nil), w.cells...), header)
		if err := t.out.End(t.rows >= t.reach); err != nil {
			return err
		}
	}
	return nil
}

// spendRow charges the text of the nth repetition of a row, which bounds repetitions. Reading the row charged
// its first occurrence.
func (r *reader) spendRow(w *row, nth int) error {
	if nth == 0 {
		return nil
	}
	bytes := 0
	for _, c := range w.cells {
		bytes += len(c.Text) + 1
	}
	if err := r.hold(max(len(w.cells), 1)); err != nil {
		return err
	}
	return r.out.Spend(bytes)
}

// hold counts repeated cells of a table that collect holds as a whole. A table of the main text is emitted in slices.
func (r *reader) hold(cells int) error {
	if !r.collecting {
		return nil
	}
	if r.repeated += cells; r.repeated > maxHeld {
		return taskerr.Errorf(taskerr.QuotaExceeded, "tables within cells, frames or notes of the OpenDocument file have more than "+
			"%d repeated cells: delete the repeated rows and columns of these tables", maxHeld)
	}
	return nil
}

// rows reads the rows of a table, however they are grouped, and passes each to emit.
func (r *reader) rows(header bool, emit func(w *row, header bool, repeats int) error) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "table-row":
			w := &row{}
			if err := r.row(w); err != nil {
				return err
			}
			repeats := count(start, "number-rows-repeated", math.MaxInt)
			r.cut = r.cut || w.filled > 0 && repeats > maxRepeats
			return emit(w, header, min(repeats, maxRepeats))
		case "table-header-rows":
			return r.rows(true, emit)
		case "table-rows", "table-row-group":
			return r.rows(header, emit)
		case "shapes":
			if r.shapes != nil {
				return r.blocks(func(extract.Block) error { return nil }) // shape keeps the drawings
			}
		}
		return r.d.Skip()
	}, nil)
}

func (r *reader) row(w *row) error {
	return r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "table-cell" { // the content of a covered cell is hidden
			return r.d.Skip()
		}
		blocks, err := r.collect(r.blocks)
		if err != nil {
			return err
		}
		return r.cell(w, start, blocks)
	}, nil)
}

// cell adds a table:table-cell as often as it is repeated.
func (r *reader) cell(w *row, start xml.StartElement, blocks []extract.Block) error {
	c := extract.CellOf(blocks)
	c.Text, c.Links = extract.Trim(c.Text, c.Links)
	if c.Text == "" {
		c.Text = value(start)
	}
	if r.nested && c.Text == "NaN" { // a missing value of a chart
		c.Text = ""
	}
	all := count(start, "number-columns-repeated", math.MaxInt)
	if c.Text == "" && ooxml.Attr(start, "formula") != "" && ooxml.Attr(start, "value-type") != "string" { // a text may be empty
		r.unsaved += min(all, maxCopies)
	}
	columns, rows := count(start, "number-columns-spanned", maxColumns), count(start, "number-rows-spanned", maxRowSpan)
	if c.Text == "" && rows == 1 {
		w.leave(all, columns)
		return nil
	}
	if err := r.fillGap(w); err != nil {
		return err
	}
	if columns > 1 {
		c.ColSpan = columns
	}
	if rows > 1 {
		c.RowSpan = rows
		w.tall = max(w.tall, rows)
	}
	repeats := max(min(all, maxCopies-w.copies), 1)
	if repeats < all {
		r.cut = r.cut || c.Text != ""
		w.leave(all-repeats, columns)
	}
	w.copies += repeats - 1
	w.add(c, blocks, kindOf(ooxml.Attr(start, "value-type"), c.Text), repeats)
	if err := r.hold(repeats - 1); err != nil {
		return err
	}
	return r.out.Spend((repeats - 1) * (len(c.Text) + 1))
}

// leave adds empty cells to the gap before the next cell.
func (w *row) leave(cells, columns int) {
	w.gap = min(w.gap+min(cells, maxColumns+1)*columns, maxColumns+1)
}

// fillGap adds the empty cells of the gap, so that the next cell has its column. A row has no more of them than a sheet has
// columns.
func (r *reader) fillGap(w *row) error {
	cells := min(w.gap, max(maxColumns-w.gaps, 1))
	r.cut = r.cut || cells < w.gap
	w.gap = 0
	if cells == 0 {
		return nil
	}
	w.gaps += cells
	if err := r.hold(cells); err != nil {
		return err
	}
	if r.blanks -= max(cells-maxGap, 0); r.blanks < 0 {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the tables of the OpenDocument file have more than %d empty cells between others: "+
			"split it into smaller files, or bring its cells closer together", r.maxBlanks)
	}
	w.cells = append(w.cells, make([]extract.Cell, cells)...)
	w.each = append(w.each, make([][]extract.Block, cells)...)
	w.kinds = append(w.kinds, make([]extract.ValueKind, cells)...)
	return nil
}

// add adds a cell with its repetitions.
func (w *row) add(c extract.Cell, blocks []extract.Block, kind extract.ValueKind, repeats int) {
	for range repeats {
		w.cells, w.each, w.kinds = append(w.cells, c), append(w.each, blocks), append(w.kinds, kind)
	}
	if c.Text != "" {
		w.filled += repeats
		w.blocks = blocks
	}
	if kind > extract.TextValue {
		w.values += repeats
	}
}

// kindOf returns the kind of a cell by its office:value-type.
func kindOf(value, text string) extract.ValueKind {
	switch {
	case value == "date":
		return extract.DateValue
	case value != "" && value != "string":
		return extract.NumberValue
	case text == "":
		return extract.NoValue
	}
	return extract.TextValue
}

// value returns the value of a cell that shows no text.
func value(start xml.StartElement) string {
	switch ooxml.Attr(start, "value-type") {
	case "float", "percentage":
		return ooxml.Attr(start, "value")
	case "currency":
		amount := ooxml.Attr(start, "value")
		if amount == "" {
			return ""
		}
		return strings.TrimSpace(amount + " " + ooxml.Attr(start, "currency"))
	case "date":
		return ooxml.Attr(start, "date-value")
	case "time":
		return ooxml.Attr(start, "time-value")
	case "boolean":
		return ooxml.Attr(start, "boolean-value")
	case "string":
		return ooxml.Attr(start, "string-value")
	}
	return ""
}
