package fit

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// mostRows is more rows than a slide has: of a longer table only these are measured for the next slide.
const mostRows = 200

// table makes a table fit between its top and the end of the slide's content.
func (f *fitter) table(layout *deck.Layout, e deck.Element) (deck.Element, *deck.Element) {
	box := layout.Place(&e)
	if box == nil {
		return e, nil
	}
	end := max(box.Bottom(), f.deck.Size.Height*91/100)
	height := float64(end-box.Y) / typeset.Point
	scale := 1.0
	if len(e.Table.Rows) > mostRows || rowsWithin(e.Table, height, leastTable) < len(e.Table.Rows) {
		scale = 0
	}
	for ; scale >= leastTable; scale -= step {
		if g, err := f.set.Table(e.Table, scale); err != nil || g.Height() <= height+0.5 {
			break
		}
	}
	if scale >= leastTable {
		e.Table = resized(e.Table, f.deck, scale)
		return e, nil
	}
	return f.divideTable(e, height)
}

// divideTable cuts a table between rows that no cell joins. The header is repeated.
func (f *fitter) divideTable(e deck.Element, height float64) (deck.Element, *deck.Element) {
	const comfortable = 0.75
	top := *e.Table
	// One row more than fits: the cut is before it.
	top.Rows = top.Rows[:min(len(top.Rows), mostRows, rowsWithin(&top, height, comfortable)+1)]
	g, err := f.set.Table(&top, comfortable)
	if err != nil {
		return e, nil
	}
	cut := 0
	for r := e.Table.Headers + 1; r < len(top.Rows); r++ {
		if joined(g.Places, r) {
			continue
		}
		if g.Rows[r] > height+0.5 {
			break
		}
		cut = r
	}
	if cut == 0 { // the first row with its header is higher than the slide
		scale := comfortable
		for scale > 0.25 {
			if g, err := f.set.Table(e.Table, scale); err != nil || g.Height() <= height || len(e.Table.Rows) > mostRows {
				break
			}
			scale -= step
		}
		e.Table = resized(e.Table, f.deck, scale)
		return e, nil
	}
	head, tail := *e.Table, *e.Table
	head.Rows = e.Table.Rows[:cut]
	tail.Rows = append(slices.Clone(e.Table.Rows[:e.Table.Headers]), e.Table.Rows[cut:]...)
	more := e
	more.Table = &tail
	e.Table = resized(&head, f.deck, comfortable)
	return e, &more
}

// rowsWithin is how many rows of a table a height has room for at most: they are as high as they say, or higher.
func rowsWithin(t *deck.Table, height, scale float64) int {
	used := 0.0
	for i, r := range t.Rows {
		if used += float64(r.Height) / typeset.Point * scale; used > height+0.5 {
			return i
		}
	}
	return len(t.Rows)
}

// joined reports whether a cell spans the line above a row.
func joined(places []deck.Place, row int) bool {
	return slices.ContainsFunc(places, func(p deck.Place) bool { return p.Row < row && p.Row+p.RowSpan > row })
}

// resized is a table whose text is smaller: tables have no scale of their own in files.
func resized(t *deck.Table, d *deck.Deck, scale float64) *deck.Table {
	if scale >= 1 {
		return t
	}
	out := *t
	out.Rows = make([]deck.Row, len(t.Rows))
	for i, row := range t.Rows {
		cells := slices.Clone(row.Cells)
		for k := range cells {
			text := &cells[k].Text
			st := typeset.CellStyle(i < t.Headers)
			if len(text.Styles) > 0 {
				st = deck.StyleAt(text.Styles, 0)
			}
			text.Paragraphs = slices.Clone(text.Paragraphs)
			for p := range text.Paragraphs {
				runs := slices.Clone(text.Paragraphs[p].Runs)
				for r := range runs {
					look := (typeset.Setter{Deck: d}).Look(&deck.Run{Size: runs[r].Size}, st, scale)
					runs[r].Size = float64(int(look.Size*2)) / 2
				}
				text.Paragraphs[p].Runs = runs
			}
		}
		out.Rows[i] = deck.Row{Height: int64(float64(row.Height) * scale), Cells: cells, Extra: row.Extra}
	}
	return &out
}
