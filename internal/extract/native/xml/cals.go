package xml

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// group is a part of a CALS table with columns of its own: in patents a table's title, its heads and its rows are three
// with different columns.
type group struct {
	names []string
	ends  []int // of the columns, from the left edge of the table; 0: a width isn't known
	rows  int   // of the table before the group
}

// near is the width up to which edges of columns are as good as one. A column that is no wider, as those are whose widths are
// in inches, has no width that helps.
const near = 3

// startGroup begins a part of the table that is open.
func (w *walker) startGroup() {
	if w.tables == 1 && len(w.groups) < maxSpan {
		w.groups = append(w.groups, group{rows: len(w.table.Rows)})
	}
}

// addColumn adds a column to the part that is open.
func (w *walker) addColumn(e xml.StartElement) {
	if w.tables != 1 || len(w.groups) == 0 {
		return
	}
	g := &w.groups[len(w.groups)-1]
	if len(g.names) == maxSpan {
		return
	}
	width, _ := strconv.Atoi(strings.TrimRight(strings.ToLower(attr(e, "colwidth")), "abcdefghijklmnopqrstuvwxyz"))
	end := 0
	if n := len(g.ends); width > near && width < 1<<16 && (n == 0 || g.ends[n-1] > 0) {
		end = width
		if n > 0 {
			end += g.ends[n-1]
		}
	}
	g.names, g.ends = append(g.names, attr(e, "colname")), append(g.ends, end)
}

// span returns the columns of a cell from one name to another, 0 if they aren't names of columns.
func (w *walker) span(from, to string) int {
	if len(w.groups) == 0 || from == "" {
		return 0
	}
	names := w.groups[len(w.groups)-1].names
	a, b := slices.Index(names, from), slices.Index(names, to)
	if a < 0 || b < a {
		return 0
	}
	return b - a + 1
}

// align puts the cells of parts with different columns below each other: the columns of the table are those between the
// edges of all parts' columns. Without the widths of all, or with cells of several rows, it leaves the table as it is.
func align(t *extract.Table, groups []group) {
	var edges []int
	for _, g := range groups {
		edges = append(edges, g.ends...)
	}
	if len(groups) < 2 || slices.Contains(edges, 0) {
		return
	}
	slices.Sort(edges)
	if edges = distinct(edges); edges == nil || len(edges) > maxSpan {
		return
	}
	for _, row := range t.Rows {
		if slices.ContainsFunc(row, func(c extract.Cell) bool { return c.RowSpan > 1 }) {
			return
		}
	}
	for i, g := range groups {
		end := len(t.Rows)
		if i+1 < len(groups) {
			end = groups[i+1].rows
		}
		for _, row := range t.Rows[g.rows:end] {
			widen(row, g.ends, edges)
		}
	}
}

// distinct returns the last of those sorted edges that are as good as one.
func distinct(edges []int) []int {
	var all []int
	for i, edge := range edges {
		if i+1 == len(edges) || edges[i+1] > edge+near {
			all = append(all, edge)
		}
	}
	return all
}

// ruled takes the rows without text out, which are only there for a line below them. One that a cell of several rows
// reaches stays.
func ruled(t *extract.Table) {
	rows := t.Rows[:0]
	headers, reach := t.Headers, 0 // reach is the first row that no cell so far reaches
	for i, row := range t.Rows {
		text := false
		for _, c := range row {
			text = text || c.Text != ""
			if c.RowSpan > 1 {
				reach = max(reach, i+c.RowSpan)
			}
		}
		if text || i < reach {
			rows = append(rows, row)
		} else if i < headers {
			t.Headers--
		}
	}
	t.Rows = rows
}

// widen makes the cells of a row as many columns wide as there are edges within their own.
func widen(row []extract.Cell, ends, edges []int) {
	column, before := 0, 0
	for i := range row {
		column += max(row[i].ColSpan, 1)
		if column > len(ends) {
			return
		}
		at, _ := slices.BinarySearch(edges, ends[column-1])
		row[i].ColSpan, before = at+1-before, at+1
	}
}
