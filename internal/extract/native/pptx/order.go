package pptx

import (
	"cmp"
	"math"
	"slices"
)

// tolerance is how far, in EMU, the tops of two shapes in one row or the lefts in one column may differ.
const tolerance = 45_720 // 0.05 inch

// inOrder sorts shapes into reading order: titles, then rows from the top, each from the left, then shapes
// without a position. Rows that are columns are read by these.
func inOrder(shapes []*shape) []*shape {
	var titles, placed, rest []*shape
	for _, s := range shapes {
		switch {
		case s.isTitle():
			titles = append(titles, s)
		case s.placed:
			placed = append(placed, s)
		default:
			rest = append(rest, s)
		}
	}
	return append(append(titles, byColumns(rows(placed), placed)...), rest...)
}

// rows returns rows from the top, each from the left.
func rows(shapes []*shape) [][]*shape {
	sorted := slices.Clone(shapes)
	slices.SortStableFunc(sorted, func(a, b *shape) int { return cmp.Compare(a.area.top, b.area.top) })
	var all [][]*shape
	begin := 0
	for i := 1; i <= len(sorted); i++ {
		if i < len(sorted) && sorted[i].area.top-sorted[i-1].area.top <= tolerance {
			continue
		}
		row := sorted[begin:i]
		slices.SortStableFunc(row, func(a, b *shape) int { return cmp.Compare(a.area.left, b.area.left) })
		all = append(all, row)
		begin = i
	}
	return all
}

// byColumns joins rows, whose shapes are also given in the order of the file. Rows below each other with the same
// columns are read column by column if the file has them so: PowerPoint's layout "Comparison" has two headings above two
// texts.
func byColumns(rows [][]*shape, file []*shape) []*shape {
	number := make(map[*shape]int, len(file))
	for i, s := range file {
		number[s] = i
	}
	order := make([]*shape, 0, len(file))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && sameColumns(rows[0], rows[n]) {
			n++
		}
		columns := transposed(rows[:n])
		if slices.IsSortedFunc(columns, func(a, b *shape) int { return cmp.Compare(number[a], number[b]) }) {
			order = append(order, columns...)
		} else {
			order = append(order, slices.Concat(rows[:n]...)...)
		}
		rows = rows[n:]
	}
	return order
}

func sameColumns(a, b []*shape) bool {
	return slices.EqualFunc(a, b, func(a, b *shape) bool { return math.Abs(a.area.left-b.area.left) <= tolerance })
}

// transposed returns the shapes of rows of the same length column by column.
func transposed(rows [][]*shape) []*shape {
	var all []*shape
	for column := range rows[0] {
		for _, row := range rows {
			all = append(all, row[column])
		}
	}
	return all
}
