package compose

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	point      = 12700
	maxColumns = 20 // of a table on one slide; one with more is divided
	cellSize   = 14 // points
	largeSize  = 16 // points, of a table with few rows and columns
)

// tableBox is the place of tables: their edges are where the text of a body begins and ends.
func tableBox() deck.Box {
	box, in := contentBox(), deck.DefaultInset
	box.X, box.W = box.X+in.Left, box.W-in.Left-in.Right
	return box
}

// contentBox is the place below the title.
func contentBox() deck.Box {
	l := deck.HouseLayouts()[2]
	return *l.Placeholder(deck.BodyRole, 1).Box
}

// maxCaption is how many lines of a caption are above a table; a longer one is text like any other.
const maxCaption = 4

// table adds a slide with a table, below its caption and the text that leads to it.
func (c *composer) table(s section, b joined, caption string, lead []extract.Block) {
	above, height := c.caption(caption, b.Block)
	if height > maxCaption*30*point {
		c.text(s, []extract.Block{{Kind: extract.Caption, Text: caption, Page: b.Page}})
		above = nil
	}
	for _, part := range c.parts(b.Table) {
		elements := []deck.Element{c.title(s)}
		box := tableBox()
		layout := deck.TitleOnlyLayout
		if len(lead) > 0 {
			text, high := c.lead(lead)
			elements, layout, lead = append(elements, text), deck.ContentLayout, nil
			box.Y, box.H = box.Y+high, box.H-high
		}
		if above != nil {
			elements = append(elements, *above)
			box.Y, box.H = box.Y+height, box.H-height
		}
		t := tableOf(part, b.pages, box.W)
		box.W = 0
		for _, w := range t.Columns {
			box.W += w
		}
		elements = append(elements, deck.Element{
			Kind: deck.TableElement, Name: "Table", Box: &box, Table: t, Source: c.from(b.Page, b.Box), Alt: oneLine(caption),
		})
		c.add(c.footed(deck.Slide{
			Layout: string(layout), Title: s.title, Source: c.from(b.Page, b.Box), Elements: elements,
		}))
	}
}

// shrink makes the box of a table that fits as high as its rows.
func shrink(e *deck.Element) {
	if e.Table == nil {
		return
	}
	box, rows := *e.Box, int64(0)
	for _, r := range e.Table.Rows {
		rows += r.Height
	}
	box.H = min(box.H, rows)
	e.Box = &box
}

// leads reports whether text is short enough to be above a table.
func leads(blocks []extract.Block, t *extract.Table) bool {
	const most, rows = 3, 9 // paragraphs of the text, rows of the table
	bytes := 0
	for _, b := range blocks {
		bytes += len(b.Text)
	}
	return len(blocks) > 0 && len(blocks) <= most && bytes < MinText && len(t.Rows) <= rows
}

// lead makes the body above a table, and says how high it is with the gap below.
func (c *composer) lead(blocks []extract.Block) (e deck.Element, height int64) {
	box, in := contentBox(), deck.DefaultInset
	t := &deck.Text{}
	for _, b := range blocks {
		t.Paragraphs = append(t.Paragraphs, paragraph(b))
	}
	e = deck.Element{
		Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: t, Source: c.from(blocks[0].Page, blocks[0].Box),
	}
	set := typeset.Setter{Face: typeset.Typical{}, Deck: c.deck}
	lines := set.Text(c.deck.Layout(string(deck.ContentLayout)), &e, t, float64(box.W-in.Left-in.Right)/point)
	box.H = int64(lines.Height*point) + in.Top + in.Bottom + 8*point
	e.Box = &box
	return e, box.H + 8*point
}

// caption makes the element above a table, and says how high it is; nil without one.
func (c *composer) caption(text string, b extract.Block) (e *deck.Element, height int64) {
	if strings.TrimSpace(text) == "" {
		return nil, 0
	}
	box := contentBox()
	t := &deck.Text{
		Paragraphs: []deck.Paragraph{{Runs: []deck.Run{{Text: oneLine(text), Italic: new(true)}}, Page: b.Page}},
		Styles:     []deck.Style{{Size: 14, Color: "#43506A"}},
	}
	in := deck.DefaultInset
	set := typeset.Setter{Face: typeset.Typical{}, Deck: c.deck}
	lines := set.Text(&deck.Layout{}, &deck.Element{}, t, float64(box.W-in.Left-in.Right)/point)
	box.H = int64(lines.Height*point) + in.Top + in.Bottom + 6*point
	return &deck.Element{Kind: deck.TextElement, Name: "Caption", Box: &box, Source: c.from(b.Page, b.Box), Text: t}, box.H
}

// parts divides a table that is too wide: each part has the first column.
func (c *composer) parts(t *extract.Table) []*extract.Table {
	columns := 0
	for _, row := range t.Grid() {
		columns = max(columns, len(row))
	}
	if columns <= maxColumns {
		return []*extract.Table{t}
	}
	grid := t.Grid()
	var parts []*extract.Table
	for from := 1; from < columns; from += maxColumns - 1 {
		part := &extract.Table{Headers: t.Headers}
		for _, row := range grid {
			cells := []extract.Cell{{Text: at(row, 0)}}
			for k := from; k < min(from+maxColumns-1, columns); k++ {
				cells = append(cells, extract.Cell{Text: at(row, k)})
			}
			part.Rows = append(part.Rows, cells)
		}
		parts = append(parts, part)
	}
	return parts
}

func at(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// tableOf makes the deck's table, whose rows are from pages. Columns are as wide as their texts ask for, within limits.
func tableOf(t *extract.Table, pages []int, width int64) *deck.Table {
	out := &deck.Table{Headers: min(t.Headers, len(t.Rows)), Banded: true}
	columns := 0
	for _, row := range t.Grid() {
		columns = max(columns, len(row))
	}
	columns = max(columns, 1)
	size, height := float64(cellSize), int64(380000)
	if len(t.Rows) <= 9 && columns <= 6 {
		size, height = largeSize, 450000
	}
	for i, row := range t.Rows {
		r := deck.Row{Height: height}
		for _, cell := range row {
			r.Cells = append(r.Cells, cellOf(cell, pages[i], size))
		}
		out.Rows = append(out.Rows, r)
	}
	out.Columns = stretched(columnWidths(t, columns, width, size), width)
	square(out)
	alignHeaders(out)
	return out
}

// stretched makes columns wider, in proportion, so that a table is as wide as the text of slides; one of few columns is
// narrower, as its rows could not be read across.
func stretched(columns []int64, width int64) []int64 {
	total := int64(0)
	for _, w := range columns {
		total += w
	}
	want := width * int64(min(len(columns), 4)) / 4
	if total >= want || total == 0 {
		return columns
	}
	for i := range columns {
		columns[i] = columns[i] * want / total
	}
	return columns
}

// columnWidths shares the width among columns: each has room for its longest word, and what is left goes to those whose
// texts are wider.
func columnWidths(t *extract.Table, columns int, width int64, size float64) []int64 {
	const inset = 16.0 // points, of a cell
	least, want := make([]float64, columns), make([]float64, columns)
	for r, row := range t.Grid() {
		look := typeset.Look{Family: deck.HouseTheme().Fonts.Minor, Size: size, Bold: r < t.Headers}
		for k, text := range row {
			if k >= columns || len(text) > 2000 {
				continue
			}
			want[k] = max(want[k], (typeset.Typical{}).Width(text, look)+inset)
			for word := range strings.FieldsSeq(text) {
				least[k] = max(least[k], (typeset.Typical{}).Width(word, look)+inset)
			}
		}
	}
	room := float64(width) / point
	sumLeast, sumWant := 0.0, 0.0
	for k := range want {
		least[k] = min(max(least[k], 40), room/2)
		want[k] = min(max(want[k]*1.3, least[k]), room/2)
		sumLeast, sumWant = sumLeast+least[k], sumWant+want[k]
	}
	out := make([]int64, columns)
	for k := range out {
		w := want[k]
		switch {
		case sumLeast >= room:
			w = least[k] * room / sumLeast
		case sumWant > room:
			w = least[k] + (want[k]-least[k])*(room-sumLeast)/(sumWant-sumLeast)
		}
		out[k] = int64(math.Floor(w * point))
	}
	return out
}

// square makes each row cover all columns, and no cell reach over the table's edges: documents are not that careful.
func square(t *deck.Table) {
	covered := make([]int, len(t.Columns))
	for r := range t.Rows {
		cells := t.Rows[r].Cells
		kept := cells[:0:0]
		column := 0
		for _, cell := range cells {
			for column < len(covered) && covered[column] > 0 {
				column++
			}
			if column >= len(covered) {
				break
			}
			free := 0
			for column+free < len(covered) && covered[column+free] == 0 {
				free++
			}
			span := min(max(cell.ColSpan, 1), free)
			rows := min(max(cell.RowSpan, 1), len(t.Rows)-r)
			if cell.ColSpan = span; span == 1 {
				cell.ColSpan = 0
			}
			if cell.RowSpan = rows; rows == 1 {
				cell.RowSpan = 0
			}
			for k := column; k < column+span; k++ {
				covered[k] = rows
			}
			column += span
			kept = append(kept, cell)
		}
		for ; column < len(covered); column++ {
			if covered[column] == 0 {
				covered[column] = 1
				kept = append(kept, deck.Cell{Text: deck.Text{Paragraphs: []deck.Paragraph{}}})
			}
		}
		t.Rows[r].Cells = slices.Clip(kept)
		for k := range covered {
			covered[k] = max(covered[k]-1, 0)
		}
	}
}
