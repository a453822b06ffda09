package typeset

import "github.com/seed-7227ef26/async-worker/internal/deck"

// CellInset is the distance of a cell's text from its edges in EMU, as in DefaultInset.
func CellInset() deck.Inset { return deck.DefaultInset }

// CellStyle is the look of a table's text where nothing else says it.
func CellStyle(header bool) deck.Style {
	if header {
		return deck.Style{Size: deck.DefaultSize, Bold: true, Color: "light1"}
	}
	return deck.Style{Size: deck.DefaultSize}
}

// Grid is a table whose texts were broken into lines.
type Grid struct {
	Places  []deck.Place
	Blocks  []Block   // of the places
	Columns []float64 // left edges in points, and the right edge of the last
	Rows    []float64 // tops in points, and the bottom of the last
}

// Table breaks the texts of a table's cells, scaled, and returns how high its rows are.
func (s Setter) Table(t *deck.Table, scale float64) (Grid, error) {
	places, err := t.Grid()
	if err != nil {
		return Grid{}, err
	}
	g := Grid{Places: places, Blocks: make([]Block, len(places)), Columns: []float64{0}}
	for _, w := range t.Columns {
		g.Columns = append(g.Columns, g.Columns[len(g.Columns)-1]+float64(w)/Point)
	}
	heights := make([]float64, len(t.Rows))
	for i, r := range t.Rows {
		heights[i] = float64(r.Height) / Point
		if scale > 0 && scale < 1 {
			heights[i] *= scale
		}
	}
	vertical := float64(CellInset().Top+CellInset().Bottom) / Point
	for i, p := range places {
		text := p.Text
		if scale > 0 {
			text.Scale = scale
		}
		header := p.Row < t.Headers
		width := g.Columns[p.Column+p.ColSpan] - g.Columns[p.Column] - float64(CellInset().Left+CellInset().Right)/Point
		g.Blocks[i] = s.Styled(&text, func(level int) deck.Style {
			if len(text.Styles) > 0 {
				return deck.StyleAt(text.Styles, level)
			}
			return CellStyle(header)
		}, width)
		if p.RowSpan == 1 {
			heights[p.Row] = max(heights[p.Row], g.Blocks[i].Height+vertical)
		}
	}
	for i, p := range places { // what a cell of several rows needs more, the last of them gets
		if p.RowSpan == 1 {
			continue
		}
		sum := 0.0
		for r := p.Row; r < min(p.Row+p.RowSpan, len(heights)); r++ {
			sum += heights[r]
		}
		if need := g.Blocks[i].Height + vertical; need > sum {
			heights[min(p.Row+p.RowSpan, len(heights))-1] += need - sum
		}
	}
	g.Rows = []float64{0}
	for _, h := range heights {
		g.Rows = append(g.Rows, g.Rows[len(g.Rows)-1]+h)
	}
	return g, nil
}

// Height is the height of the table in points.
func (g Grid) Height() float64 { return g.Rows[len(g.Rows)-1] }
