package odf

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// Repetition is how these formats store blanks up to the edge of the sheet, and how a small file
// becomes an endless one.
const (
	maxColumns = 1024 // of a row; extract.Table spreads out no more
	maxGap     = 256  // empty cells between two others
	maxRepeats = 1000 // of a row that has text
	maxRowSpan = 1 << 20
)

// row is a table:table-row while it is read. Empty cells at its end are left out.
type row struct {
	cells  []extract.Cell
	gap    int // empty cells that are due before the next one
	blocks []extract.Block
	filled int // cells with text
	values int // of these, those that hold no text but numbers, dates …
	tall   int // the largest of the row spans
}

// table is a table:table within a text or a slide while it is read.
type table struct {
	out    *extract.TableWriter
	rows   int
	reach  int             // the first row that no cell above reaches into
	cells  int             // with text
	single []extract.Block // the blocks of the only one
}

// table reads a table:table. One with a single cell is a frame around its content, not a table.
func (r *reader) table(start xml.StartElement, emit extract.Emit) error {
	if r.styles.hidden("table", ooxml.Attr(start, "style-name")) {
		return r.d.Skip()
	}
	t := &table{out: extract.NewTableWriter(emit, extract.Block{Page: r.page})}
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
	for i := range repeats {
		t.rows++
		t.reach = max(t.reach, t.rows-1+max(w.tall, 1))
		if err := r.spendRow(w, i); err != nil {
			return err
		}
		t.out.Row(append([]extract.Cell(nil), w.cells...), header)
		if t.out.Full() && t.rows >= t.reach {
			if err := t.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spendRow counts what the nth repetition of a row holds, so that they have an end; the row itself was counted as
// it was read.
func (r *reader) spendRow(w *row, nth int) error {
	if nth == 0 {
		return nil
	}
	bytes := 0
	for _, c := range w.cells {
		bytes += len(c.Text) + 1
	}
	return r.out.Spend(bytes)
}

// rows reads the rows of a table, whatever they are grouped in, handing each to emit.
func (r *reader) rows(header bool, emit func(w *row, header bool, repeats int) error) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "table-row":
			w := &row{}
			if err := r.row(w); err != nil {
				return err
			}
			return emit(w, header, count(start, "number-rows-repeated", maxRepeats))
		case "table-header-rows":
			return r.rows(true, emit)
		case "table-rows", "table-row-group":
			return r.rows(header, emit)
		case "shapes":
			if r.shapes != nil {
				return r.blocks(func(extract.Block) error { return nil }) // shapes are kept aside
			}
		}
		return r.d.Skip()
	}, nil)
}

func (r *reader) row(w *row) error {
	return r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "table-cell" { // what a covered cell holds is not shown
			return r.d.Skip()
		}
		blocks, err := r.collect(r.blocks)
		if err != nil {
			return err
		}
		return r.cell(w, start, blocks)
	}, nil)
}

// cell adds a table:table-cell, as often as it says.
func (r *reader) cell(w *row, start xml.StartElement, blocks []extract.Block) error {
	c := extract.Cell{Text: strings.TrimSpace(extract.CellText(blocks))}
	if c.Text == "" {
		c.Text = value(start)
	}
	if r.nested && c.Text == "NaN" { // a chart's value that is missing
		c.Text = ""
	}
	repeats := count(start, "number-columns-repeated", maxColumns)
	columns, rows := count(start, "number-columns-spanned", maxColumns), count(start, "number-rows-spanned", maxRowSpan)
	if c.Text == "" && rows == 1 {
		w.gap = min(w.gap+repeats*columns, maxGap)
		return nil
	}
	w.cells = append(w.cells, make([]extract.Cell, w.gap)...)
	w.gap = 0
	if columns > 1 {
		c.ColSpan = columns
	}
	if rows > 1 {
		c.RowSpan = rows
		w.tall = max(w.tall, rows)
	}
	if repeats = min(repeats, maxColumns-len(w.cells)); repeats < 1 {
		repeats = 1
	}
	for range repeats {
		w.cells = append(w.cells, c)
	}
	if c.Text != "" {
		w.filled += repeats
		w.blocks = blocks
	}
	if kind := ooxml.Attr(start, "value-type"); kind != "" && kind != "string" {
		w.values += repeats
	}
	return r.out.Spend((repeats - 1) * (len(c.Text) + 1))
}

// value is what a cell holds when it shows no text.
func value(start xml.StartElement) string {
	switch ooxml.Attr(start, "value-type") {
	case "float", "percentage", "currency":
		return ooxml.Attr(start, "value")
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
