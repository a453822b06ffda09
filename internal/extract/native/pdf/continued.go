package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// tail is the last table, which is held back until it is known whether the next page goes on with it.
type tail struct {
	table  *extract.Table
	piece  *piece
	header [][]extract.Cell // of the whole table
	slices int              // that were emitted before
}

// addTable composes a table.
func (c *composer) addTable(p *piece) error {
	t := c.tail
	if t == nil || !t.goesOn(p) {
		if err := c.flushTable(); err != nil {
			return err
		}
		c.tail = &tail{table: p.table, piece: p, header: p.table.Rows[:p.table.Headers]}
		return nil
	}
	next := &tail{piece: p, slices: t.slices + 1}
	next.table, next.header = t.next(p.table)
	if err := c.flushTable(); err != nil {
		return err
	}
	c.tail = nil
	if len(next.table.Rows) == len(next.header) {
		next.table.Rows = nil // all of it was part of the last row of the page before
	}
	c.tail = next
	return nil
}

// flushTable emits the table that was held back.
func (c *composer) flushTable() error {
	t := c.tail
	if t == nil || len(t.table.Rows) == 0 {
		c.tail = nil
		return nil
	}
	c.tail = nil
	return c.put(extract.Block{Kind: extract.TableKind, Table: t.table}, t.piece)
}

// How near to the bottom of its page a table ends that goes on, and how near to the top of the next one it does, as
// fractions of the page's height.
const (
	tailBelow = 0.6
	headAbove = 0.4
)

// goesOn reports whether a table is the rest of the last one: it has the same columns, on the next page, with
// nothing between.
func (t *tail) goesOn(p *piece) bool {
	a, b := t.piece, p
	if b.page.number != a.page.number+1 || a.bottom < tailBelow*a.page.height || b.top > headAbove*b.page.height {
		return false
	}
	if a.drawn == nil || b.drawn == nil { // a head that is printed again says so
		return width(t.table) == width(p.table) && sameRows(t.table.Rows, p.table.Rows) > 0
	}
	if !sameWidths(a.drawn.columns, b.drawn.columns) ||
		width(t.table) != width(p.table) {
		return false
	}
	// Another bold head begins another table.
	return !b.drawn.bold || len(t.header) == 0 || sameRows(t.header, b.table.Rows) > 0
}

// width returns the number of columns.
func width(t *extract.Table) (n int) {
	for _, c := range t.Rows[0] {
		n += max(1, c.ColSpan)
	}
	return n
}

// sameWidths reports whether two tables have the same columns, wherever they begin.
func sameWidths(a, b []float64) bool {
	return len(a) == len(b) && len(a) > 1 && sameColumns(shifted(a), shifted(b))
}

func shifted(edges []float64) []float64 {
	out := slices.Clone(edges)
	for i := range out {
		out[i] -= edges[0]
	}
	return out
}

// sameRows returns how many of the first rows have the same text.
func sameRows(a, b [][]extract.Cell) (n int) {
	for n < len(a) && n < len(b) && slices.EqualFunc(a[n], b[n], func(x, y extract.Cell) bool {
		return plainCell(x) == plainCell(y)
	}) {
		n++
	}
	return n
}

func plainCell(c extract.Cell) string { return strings.Join(strings.Fields(c.Text), "") }

// maxRepeated is how many rows of a head are looked for on the next page.
const maxRepeated = 4

// next returns the next slice of the table, which begins with the head, and the head. The rest of a row that the
// page cut is added to the last row of this slice.
func (t *tail) next(rest *extract.Table) (next *extract.Table, header [][]extract.Cell) {
	header = t.header
	rows := rest.Rows
	repeated := sameRows(t.table.Rows[:min(len(t.table.Rows), maxRepeated)], rows)
	if repeated >= len(header) {
		if len(header) == 0 && repeated > 0 && t.slices == 0 {
			header, t.table.Headers = t.table.Rows[:repeated], repeated // it looks like the other rows
		}
		rows = rows[max(len(header), one(repeated > 0)):]
	}
	if len(rows) > 1 && !slices.ContainsFunc(rows[0], func(c extract.Cell) bool { return c.Text != "" }) {
		rows = rows[1:] // the lower edge of a row that the page cut
	}
	if last := len(t.table.Rows) - 1; last >= t.table.Headers && len(rows) > 0 && cutRow(t.table.Rows[last], rows[0]) {
		for i := range rows[0] {
			cell, more := &t.table.Rows[last][i], rows[0][i]
			cell.Text = t.piece.page.known.join(cell.Text, more.Text)
			cell.Links = joinLinks(cell.Links, more.Links, len(cell.Text)-len(more.Text))
		}
		rows = rows[1:]
	}
	next = &extract.Table{Headers: len(header), Continued: true}
	for _, row := range header {
		next.Rows = append(next.Rows, slices.Clone(row)) // blocks are cleaned in place
	}
	next.Rows = append(next.Rows, rows...)
	return next, header
}

// cutRow reports whether the first row of a page is the rest of the last row of the page before: only cells with text
// that may go on have more of it, and others are empty.
func cutRow(last, first []extract.Cell) bool {
	if len(last) != len(first) {
		return false
	}
	more, ended := 0, 0
	for i := range last {
		a, b := last[i].Text, first[i].Text
		if last[i].ColSpan != first[i].ColSpan || last[i].RowSpan > 1 || first[i].RowSpan > 1 {
			return false
		}
		r, _ := utf8.DecodeRuneInString(b)
		switch {
		case b == "":
			ended += one(a != "")
		case a == "" || isNumeric(b) || endsSentence(a) && !unicode.IsLower(r):
			return false
		default:
			more++
		}
	}
	return more > 0 && ended > 0
}
