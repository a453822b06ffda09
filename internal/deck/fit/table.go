package fit

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"unicode/utf8"

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
	if len(e.Table.Rows) > mostRows || f.rowsWithin(e.Table, height, leastTable) < len(e.Table.Rows) {
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

// divideTable cuts a table between rows, if possible where no cell joins them. The header is repeated, unless a slide would
// have more rows of it than others: the parts would have many times the rows of the table.
func (f *fitter) divideTable(e deck.Element, height float64) (deck.Element, *deck.Element) {
	const (
		comfortable = 0.75
		shortHeader = 3 // rows that are repeated in any case
	)
	top := *e.Table
	// One row more than fits: the cut is before it.
	most := max(min(mostRows, f.rowsWithin(&top, height, comfortable)+1), top.Headers+1)
	top.Rows = top.Rows[:min(len(top.Rows), most)]
	cut, err := f.cut(&top, height, comfortable)
	if err != nil {
		return e, nil
	}
	if heads := e.Table.Headers; heads > max(cut-heads, shortHeader) {
		bare := *e.Table
		bare.Headers, e.Table = 0, &bare
		return f.divideTable(e, height)
	}
	if cut >= len(e.Table.Rows) { // all of it
		e.Table = f.shrunkTable(e.Table, height, comfortable)
		return e, nil
	}
	head, tail, err := split(e.Table, cut)
	if err != nil {
		return e, nil
	}
	more := e
	e.Table, more.Table = f.shrunkTable(head, height, comfortable), tail
	return e, &more
}

// cut is the last row before which a table can be cut so that what is above fits; more than it has: it is not cut.
func (f *fitter) cut(t *deck.Table, height, scale float64) (int, error) {
	g, err := f.set.Table(t, scale)
	if err != nil {
		return 0, err
	}
	cut := 0
	for r := t.Headers + 1; r < len(t.Rows); r++ {
		if joined(g.Places, r) {
			continue
		}
		if g.Rows[r] > height+0.5 {
			break
		}
		cut = r
	}
	if cut == 0 && height < float64(f.deck.Size.Height)/typeset.Point/10 { // at the edge, every row would have a slide
		return math.MaxInt, nil
	}
	if cut == 0 { // the first row, or the first rows that are joined, are higher than the slide
		return f.forcedCut(t, height, scale)
	}
	return cut, nil
}

// forcedCut is where a table is cut although cells join the rows: behind the last row that fits, but one at least. The
// text of cells that span rows doesn't count: it is on both sides, and cutting earlier does not make it shorter.
func (f *fitter) forcedCut(t *deck.Table, height, scale float64) (int, error) {
	bare := *t
	bare.Rows = slices.Clone(t.Rows)
	for i := range bare.Rows {
		cells := slices.Clone(bare.Rows[i].Cells)
		for k := range cells {
			if cells[k].RowSpan > 1 {
				cells[k].Text = deck.Text{}
			}
		}
		bare.Rows[i].Cells = cells
	}
	g, err := f.set.Table(&bare, scale)
	cut := t.Headers + 1
	for err == nil && cut+1 < len(g.Rows) && g.Rows[cut+1] <= height+0.5 {
		cut++
	}
	return cut, err
}

// shrunkTable makes the rows of one slide smaller until they fit: first the heights that they state, then their text.
func (f *fitter) shrunkTable(t *deck.Table, height, from float64) *deck.Table {
	const steps = 10 // from 0.75 to 0.25
	fits := func(n int) bool {
		g, err := f.set.Table(t, from-step*float64(n))
		return err != nil || g.Height() <= height+0.5
	}
	if fits(0) {
		return resized(t, f.deck, from)
	}
	low := *t
	low.Rows = slices.Clone(t.Rows)
	for i := range low.Rows {
		low.Rows[i].Height = 0
	}
	t = &low
	n := sort.Search(steps+1, fits)
	if n > steps {
		n = steps
		f.warn("rows of tables that are higher than a slide end below its edge: make their texts shorter")
	}
	return resized(t, f.deck, from-step*float64(n))
}

// rowsWithin is how many rows of a table a height has room for at most: they are as high as they say, or higher, and
// their letters need an area. What has no room is divided without measuring all of it.
func (f *fitter) rowsWithin(t *deck.Table, height, scale float64) int {
	used, letters, width := 0.0, 0.0, 0.0
	for _, w := range t.Columns {
		width += float64(w) / typeset.Point
	}
	for i, r := range t.Rows {
		letters += f.letterArea(r, i < t.Headers, scale)
		if used += float64(r.Height) / typeset.Point * scale; used > height+0.5 || letters > width*(height+0.5) {
			return i
		}
	}
	return len(t.Rows)
}

// letterArea is less than the letters of a row need, in square points, whatever they are.
func (f *fitter) letterArea(row deck.Row, header bool, scale float64) (area float64) {
	const narrow = 0.2 // how wide a letter is at least, as a part of its size, in most texts
	for i := range row.Cells {
		style := styleOf(&row.Cells[i].Text, header)
		for _, p := range row.Cells[i].Text.Paragraphs {
			for r := range p.Runs {
				size := f.set.Look(&deck.Run{Size: p.Runs[r].Size}, style, scale).Size
				area += float64(utf8.RuneCountInString(p.Runs[r].Text)) * size * size * narrow
			}
		}
	}
	return area
}

// styleOf is the look of a cell's text where its runs don't say it.
func styleOf(t *deck.Text, header bool) deck.Style {
	if len(t.Styles) > 0 {
		return deck.StyleAt(t.Styles, 0)
	}
	return typeset.CellStyle(header)
}

// split cuts a table before a row. A cell that spans the cut is on both sides, each with its part of the rows.
func split(t *deck.Table, cut int) (head, tail *deck.Table, err error) {
	above := *t
	above.Rows = t.Rows[:cut+1] // a long rest does not matter
	places, err := above.Grid()
	if err != nil {
		return nil, nil, fmt.Errorf("divide a table: %w", err)
	}
	first, second := *t, *t
	first.Rows = spansWithin(t.Rows[:cut])
	second.Rows = append(spansWithin(t.Rows[:t.Headers]), t.Rows[cut:]...)
	if !joined(places, cut) {
		return &first, &second, nil
	}
	second.Rows[t.Headers].Cells = cellsAt(places, cut)
	return &first, &second, nil
}

// cellsAt is the cells of a row with those that span it from above, which begin in it then.
func cellsAt(places []deck.Place, row int) (cells []deck.Cell) {
	places = slices.DeleteFunc(slices.Clone(places), func(p deck.Place) bool { return p.Row+p.RowSpan <= row })
	slices.SortStableFunc(places, func(a, b deck.Place) int { return a.Column - b.Column })
	column := 0
	for _, p := range places {
		for ; column < p.Column; column++ { // the row has fewer cells than the table has columns
			cells = append(cells, deck.Cell{Text: deck.Text{Paragraphs: []deck.Paragraph{}}})
		}
		cell := *p.Cell
		if p.Row < row {
			cell.RowSpan = p.Row + p.RowSpan - row
		}
		cells = append(cells, cell)
		column += p.ColSpan
	}
	return cells
}

// spansWithin is rows whose cells span no rows but these.
func spansWithin(rows []deck.Row) []deck.Row {
	out := slices.Clone(rows)
	for i := range out {
		for k := range out[i].Cells {
			if most := len(rows) - i; out[i].Cells[k].RowSpan > most {
				out[i].Cells = slices.Clone(out[i].Cells)
				out[i].Cells[k].RowSpan = most
			}
		}
	}
	return out
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
			st := styleOf(text, i < t.Headers)
			text.Paragraphs = slices.Clone(text.Paragraphs)
			for p := range text.Paragraphs {
				runs := slices.Clone(text.Paragraphs[p].Runs)
				for r := range runs {
					look := (typeset.Setter{Deck: d}).Look(&deck.Run{Size: runs[r].Size}, st, scale)
					runs[r].Size = max(float64(int(look.Size*2))/2, 1) // 0 is the style's size
				}
				text.Paragraphs[p].Runs = runs
			}
		}
		out.Rows[i] = deck.Row{Height: int64(float64(row.Height) * scale), Cells: cells, Extra: row.Extra}
	}
	return &out
}
