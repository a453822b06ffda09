package pdf

import (
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// table draws a table in the style of the deck's presentations: a dark header, thin lines, every second row shaded.
func (w *writer) table(e *deck.Element, at area, group *tagged.Element) error {
	g, err := w.set.Table(e.Table, 0)
	if err != nil {
		return err
	}
	rows := tagRows(e, group)
	for i, place := range g.Places {
		x, y := at.x+g.Columns[place.Column], at.y+g.Rows[place.Row]
		if e.Table.RTL {
			x = at.x + g.Columns[len(g.Columns)-1] - g.Columns[place.Column+place.ColSpan]
		}
		width := g.Columns[place.Column+place.ColSpan] - g.Columns[place.Column]
		height := g.Rows[min(place.Row+place.RowSpan, len(g.Rows)-1)] - g.Rows[place.Row]
		w.tag(nil)
		w.cell(e.Table, place, area{x, y, width, height})
		header := place.Row < e.Table.Headers
		text := place.Text
		styles := func(level int) deck.Style {
			if len(text.Styles) > 0 {
				return deck.StyleAt(text.Styles, level)
			}
			return typeset.CellStyle(header)
		}
		in := typeset.CellInset()
		top := points(in.Top)
		switch text.Anchor {
		case deck.AnchorMiddle:
			top = max((height-g.Blocks[i].Height)/2, top)
		case deck.AnchorBottom:
			top = max(height-g.Blocks[i].Height-points(in.Bottom), top)
		case deck.AnchorTop:
		}
		var cell *tagged.Element
		if rows != nil {
			cell = rows[place.Row].Add(&tagged.Element{Type: "TD", ColSpan: place.ColSpan, RowSpan: place.RowSpan})
			if header {
				cell.Type = "TH"
			}
		}
		w.lines(&text, g.Blocks[i], styles, x+points(in.Left), y+top, newFlow(cell, false))
	}
	return nil
}

// tagRows puts a table with its rows into the structure tree; nil in decoration.
func tagRows(e *deck.Element, group *tagged.Element) []*tagged.Element {
	if group == nil {
		return nil
	}
	table := group.Add(&tagged.Element{Type: "Table", Summary: e.Alt})
	rows := make([]*tagged.Element, len(e.Table.Rows))
	for i := range rows {
		rows[i] = table.Add(&tagged.Element{Type: "TR"})
	}
	return rows
}

// cell draws what is behind the text of a cell.
func (w *writer) cell(t *deck.Table, place deck.Place, at area) {
	p := w.pdf
	switch {
	case place.Fill != "":
		w.fill(place.Fill, "light2")
		p.Rect(at.x, at.y, at.w, at.h, "F")
	case place.Row < t.Headers:
		w.fill("dark2", "dark2")
		p.Rect(at.x, at.y, at.w, at.h, "F")
	case t.Banded && (place.Row-t.Headers)%2 == 0:
		w.fill("light2", "light2")
		p.Rect(at.x, at.y, at.w, at.h, "F")
	}
	p.SetDrawColor(190, 198, 208)
	p.SetLineWidth(0.5)
	p.Line(at.x, at.y+at.h, at.x+at.w, at.y+at.h)
}
