package deck

import (
	"fmt"
	"regexp"
	"strconv"
)

// Limits of a table: PowerPoint's for columns, and more rows than any slide.
const (
	maxColumns = 75
	maxRows    = 5000
	maxGroups  = 8 // levels of a chart's categories
)

var hexPattern = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

func hexColor(s string) bool { return hexPattern.MatchString(s) }

func (c *checker) table(at string, t *Table) {
	switch {
	case t == nil:
		c.add(at, "is missing")
		return
	case len(t.Columns) == 0 || len(t.Columns) > maxColumns || len(t.Rows) == 0 || len(t.Rows) > maxRows:
		c.add(at, "has not 1 to %d columns and 1 to %d rows", maxColumns, maxRows)
		return
	}
	if t.Headers < 0 || t.Headers > len(t.Rows) {
		c.add(at+".headers", "is not 0 to the number of rows")
	}
	for i, w := range t.Columns {
		if w < 0 || w > maxEMU {
			c.add(fmt.Sprintf("%s.columns[%d]", at, i), "is out of range")
		}
	}
	for i, r := range t.Rows {
		if r.Height < 0 || r.Height > maxEMU {
			c.add(fmt.Sprintf("%s.rows[%d].height", at, i), "is out of range")
		}
		c.count += len(r.Cells)
		for k := range r.Cells {
			place := fmt.Sprintf("%s.rows[%d].cells[%d]", at, i, k)
			cell := &r.Cells[k]
			if cell.ColSpan < 0 || cell.RowSpan < 0 || cell.ColSpan > len(t.Columns) || cell.RowSpan > len(t.Rows)-i {
				c.add(place, "spans more columns or rows than there are")
			}
			c.color(place+".fill", cell.Fill)
			c.text(place+".text", &cell.Text)
		}
	}
	if c.err == nil {
		if _, err := t.Grid(); err != nil {
			c.add(at, "%v", err)
		}
	}
}

func (c *checker) chart(at string, ch *Chart) {
	if ch == nil {
		c.add(at, "is missing")
		return
	}
	if !ch.Kind.known() {
		c.add(at+".kind", "is not a kind of chart")
	}
	points := len(ch.Categories)
	for i, text := range ch.Categories {
		if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" && ch.CategoryFormat != "" {
			c.add(fmt.Sprintf("%s.categories[%d]", at, i), "is not a number, although the chart has a category_format")
		}
	}
	for i, g := range ch.Groups {
		if points += len(g); len(g) != len(ch.Categories) || i >= maxGroups {
			c.add(fmt.Sprintf("%s.category_groups[%d]", at, i), "has not a text for each category, or is one of more than %d", maxGroups)
		}
	}
	for i, s := range ch.Series {
		points += len(s.Values) + len(s.X) + len(s.Sizes)
		if s.Kind != "" && !s.Kind.known() {
			c.add(fmt.Sprintf("%s.series[%d].kind", at, i), "is not a kind of chart")
		}
		c.color(fmt.Sprintf("%s.series[%d].color", at, i), s.Color)
	}
	if points > maxPoints {
		c.add(at, "has more than %d values", maxPoints)
	}
}

func (k ChartKind) known() bool {
	switch k {
	case BarChart, ColumnChart, LineChart, AreaChart, PieChart, DoughnutChart, ScatterChart, BubbleChart, RadarChart:
		return true
	}
	return false
}

// Place is a cell's place in the grid of its table.
type Place struct {
	Row, Column      int
	RowSpan, ColSpan int // at least 1
	*Cell
}

// Grid returns the cells with their places, in the order of rows. The error is that of cells that overlap, or of a row
// with more cells than columns.
func (t *Table) Grid() ([]Place, error) {
	var places []Place
	covered := make([]int, len(t.Columns)) // by column: the rows that a cell from above still covers
	for r := range t.Rows {
		column := 0
		for i := range t.Rows[r].Cells {
			for column < len(covered) && covered[column] > 0 {
				column++
			}
			cell := &t.Rows[r].Cells[i]
			p := Place{Row: r, Column: column, RowSpan: max(cell.RowSpan, 1), ColSpan: max(cell.ColSpan, 1), Cell: cell}
			if column+p.ColSpan > len(covered) {
				return nil, fmt.Errorf("has more cells in row %d than columns", r+1)
			}
			for c := column; c < column+p.ColSpan; c++ {
				if covered[c] > 0 {
					return nil, fmt.Errorf("has cells in row %d that overlap", r+1)
				}
				covered[c] = p.RowSpan
			}
			column += p.ColSpan
			places = append(places, p)
		}
		for c := range covered {
			covered[c] = max(covered[c]-1, 0)
		}
	}
	return places, nil
}
