package pptx

import (
	"fmt"
	"io"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// sheetName is the sheet with a chart's data: categories in column A, to the right of their groups if they have some, and
// a column for each series; of scatter and bubble charts two or three for each.
const sheetName = "Sheet1"

// columns are those of a series, from 0 (A).
type columns struct{ x, values, sizes int }

func columnsOf(c *deck.Chart, i int) columns {
	switch c.Kind {
	case deck.ScatterChart:
		return columns{x: 2 * i, values: 2*i + 1}
	case deck.BubbleChart:
		return columns{x: 3 * i, values: 3*i + 1, sizes: 3*i + 2}
	case deck.BarChart, deck.ColumnChart, deck.LineChart, deck.AreaChart, deck.PieChart, deck.DoughnutChart, deck.RadarChart:
	}
	return columns{values: len(c.Groups) + 1 + i}
}

// cellRef is a reference to a column's header (first 0), or to its rows from first on.
func cellRef(column, first, rows int) string {
	name := columnName(column)
	if first == 0 {
		return fmt.Sprintf("%s!$%s$1", sheetName, name)
	}
	return fmt.Sprintf("%s!$%s$2:$%s$%d", sheetName, name, name, rows+1)
}

func columnName(n int) string {
	name := ""
	for n++; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// xOf are the places of a series' points: they count from 1 where it has none.
func xOf(s *deck.Series) []*float64 {
	if len(s.X) > 0 {
		return s.X
	}
	x := make([]*float64, len(s.Values))
	for i := range x {
		x[i] = new(float64(i + 1))
	}
	return x
}

// sizesOf are the sizes of a series' bubbles: 1 where it has none.
func sizesOf(s *deck.Series) []*float64 {
	sizes := make([]*float64, len(s.Values))
	for i := range sizes {
		if sizes[i] = new(1.0); i < len(s.Sizes) {
			sizes[i] = s.Sizes[i]
		}
	}
	return sizes
}

// workbook writes the data of a chart as a workbook, so that it can be edited.
func workbook(to io.Writer, c *deck.Chart) error {
	w := worksheet{}
	if !c.Kind.Pointed() {
		for k, group := range c.Groups {
			for i, text := range group {
				if text != "" {
					w.text(len(c.Groups)-1-k, i+1, text)
				}
			}
		}
		for i, text := range c.Categories {
			if v, err := strconv.ParseFloat(text, 64); err == nil && c.CategoryFormat != "" {
				w.number(len(c.Groups), i+1, v)
			} else {
				w.text(len(c.Groups), i+1, text)
			}
		}
	}
	for i := range c.Series {
		s := &c.Series[i]
		at := columnsOf(c, i)
		w.text(at.values, 0, s.Name)
		w.column(at.values, s.Values)
		if c.Kind.Pointed() {
			w.text(at.x, 0, "X")
			w.column(at.x, xOf(s))
		}
		if c.Kind == deck.BubbleChart {
			w.text(at.sizes, 0, "Size")
			w.column(at.sizes, sizesOf(s))
		}
	}
	if err := w.write(to); err != nil {
		return fmt.Errorf("write the data of a chart: %w", err)
	}
	return nil
}
