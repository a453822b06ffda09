package rtf

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	tolerance = 30 // twips by which edges of one column may differ
	maxIndent = 63 // cells before an indented row, as many as a row in Word has; a wider indent is one cell
)

// shares reports whether the row has the cells of another one's definition, and no others.
func (w *row) shares(other *row) bool {
	a, b := w.definition.cells, other.definition.cells
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// edges returns the right edges of the columns that the rows share, in order.
func edges(rows []row) []int {
	var all []int
	for i, w := range rows {
		if i > 0 && w.shares(&rows[i-1]) {
			continue
		}
		for _, c := range w.definition.cells {
			all = append(all, c.right)
		}
		if len(all) > 1<<16 {
			slices.Sort(all)
			all = slices.Compact(all)
		}
	}
	slices.Sort(all)
	all = slices.CompactFunc(all, func(a, b int) bool { return max(a, b)-min(a, b) <= tolerance })
	return all[:min(len(all), maxCells)]
}

// place returns the cells of a row with their spans, and the blocks of each.
func (w *row) place(lines []int, above map[int]*extract.Cell) (cells []extract.Cell, contents [][]extract.Block) {
	column := column(lines, w.left)
	if len(w.definition.cells) == 0 {
		column = 0
	}
	indent := column
	if column > maxIndent {
		indent = 1
	}
	cells = make([]extract.Cell, indent, indent+len(w.cells)) // never reallocated: above points into it
	contents = make([][]extract.Block, indent, indent+len(w.cells))
	if column > maxIndent {
		cells[0].ColSpan = column
	}
	for i, blocks := range w.cells {
		cell := extract.CellOf(blocks)
		var def cellDefinition
		end := column + 1
		if i < len(w.definition.cells) {
			def = w.definition.cells[i]
			end = max(columnAfter(lines, def.right), column+1)
		}
		span := end - column
		switch upper := above[column]; {
		case def.joined && len(cells) > 0:
			cells[len(cells)-1].ColSpan = max(cells[len(cells)-1].ColSpan, 1) + span
		case def.joinedAbove && upper != nil:
			upper.RowSpan = max(upper.RowSpan, 1) + 1
		default:
			if span > 1 {
				cell.ColSpan = span
			}
			cells, contents = append(cells, cell), append(contents, blocks)
			delete(above, column)
			if def.beginsTall {
				above[column] = &cells[len(cells)-1]
			}
		}
		column = end
	}
	return cells, contents
}

// column returns the number of columns that end at or before x.
func column(lines []int, x int) int {
	n, _ := slices.BinarySearch(lines, x+tolerance)
	return n
}

// columnAfter returns the number of columns up to the one whose right edge is x.
func columnAfter(lines []int, x int) int { return column(lines, x+1) }
