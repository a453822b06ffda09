package structure

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// cells makes a table with a row of heads and a column of names.
func (w *writer) cells(rows, cols int) *extract.Table {
	t := &extract.Table{Headers: 1}
	heads := w.rand.Perm(len(w.words.columns) - 1)
	head := []extract.Cell{{Text: w.words.columns[0]}}
	for c := range cols - 1 {
		head = append(head, extract.Cell{Text: w.words.columns[1+heads[c]]})
	}
	t.Rows = append(t.Rows, head)
	for r := range rows {
		row := []extract.Cell{{Text: w.words.rows[r%len(w.words.rows)]}}
		if r >= len(w.words.rows) {
			row[0].Text += fmt.Sprintf(" %d", 1+r/len(w.words.rows))
		}
		for range cols - 1 {
			row = append(row, extract.Cell{Text: number(w.rand.Float64() * 900)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (w *writer) table(rows, cols int, open bool) {
	w.add(Part{Block: extract.Block{Kind: extract.TableKind, Table: w.cells(rows, cols)}, Open: open})
}

// ruled: tables with rules, some of whose cells have several lines.
func ruled(w *writer) {
	for i := range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.table(4+i, 3+i, false)
		t := w.Parts[len(w.Parts)-1].Table
		for r := 1; r < len(t.Rows); r += 2 {
			t.Rows[r][2].Text = w.sentence()
		}
		w.paragraphs(1)
	}
}

// lined: tables with few lines, some of whose cells have several lines of text if wrapped says so.
func lined(lines Lines, wrapped bool) func(w *writer) {
	return func(w *writer) {
		for i := range 3 {
			w.heading(2, w.title())
			w.paragraphs(1)
			w.table(5+i, 3+i, false)
			p := &w.Parts[len(w.Parts)-1]
			p.Lines = lines
			for r := 1; wrapped && r < len(p.Table.Rows); r += 2 {
				p.Table.Rows[r][2].Text = w.sentence()
			}
			w.paragraphs(1)
		}
	}
}

// open: tables without rules.
func open(w *writer) {
	for i := range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.table(5+i, 3+i, true)
		w.paragraphs(1)
	}
}

// merged: cells that span columns and rows.
func merged(w *writer) {
	for range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		t := w.cells(5, 5)
		heads := t.Rows[0]
		t.Rows[0] = []extract.Cell{
			{Text: heads[0].Text, RowSpan: 2},
			{Text: w.pick(w.words.headings), ColSpan: 2},
			{Text: w.pick(w.words.leads), ColSpan: 2},
		}
		second := heads[1:]
		t.Rows = append(t.Rows[:1], append([][]extract.Cell{second}, t.Rows[1:]...)...)
		t.Headers = 2
		t.Rows[3][0].RowSpan = 2
		t.Rows[4] = t.Rows[4][1:]
		w.add(Part{Block: extract.Block{Kind: extract.TableKind, Table: t}})
		w.paragraphs(1)
	}
}

// long: a table that goes on over pages, with its head on each.
func long(w *writer) {
	w.paragraphs(1)
	w.table(110, 4, false)
	w.paragraphs(1)
}

// rotated: heads of columns that are turned.
func rotated(w *writer) {
	for i := range 2 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.table(5, 5+i, false)
		w.Parts[len(w.Parts)-1].Rotated = true
		w.paragraphs(1)
	}
}

// beside: two tables side by side.
func beside(w *writer) {
	for range 2 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.table(5, 3, false)
		w.Parts[len(w.Parts)-1].Beside = &Part{
			Block: extract.Block{Kind: extract.TableKind, Table: w.cells(5, 3)},
		}
		w.paragraphs(1)
	}
}
