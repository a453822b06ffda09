package html

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Limits of the HTML standard (WHATWG HTML, 4.9.11).
const (
	maxColSpan = 1000
	maxRowSpan = 65534
)

// tableRow is a visible tr.
type tableRow struct {
	cells  []*html.Node
	header bool
}

// table reads a table. A layout table is read cell by cell as if it weren't a table.
func (w *walker) table(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	rows, caption := rowsOf(n)
	if isLayout(n, rows) {
		return w.block(n)
	}
	if w.chrome && w.headers > 0 {
		return nil
	}
	w.item = nil
	if caption != nil {
		if err := w.as(extract.Caption, caption); err != nil {
			return err
		}
	}
	out := extract.NewTableWriter(w.emit, extract.Block{})
	reach := 0 // the first row that no cell above spans
	for i, row := range rows {
		cells := make([]extract.Cell, 0, len(row.cells))
		contents := make([][]extract.Block, 0, len(row.cells))
		for _, n := range row.cells {
			cell, content, err := w.cell(n, len(rows)-i)
			if err != nil {
				return err
			}
			contents = append(contents, content)
			reach = max(reach, i+max(cell.RowSpan, 1))
			cells = append(cells, cell)
		}
		if blocks := extract.Framed(cells, contents); blocks != nil && reach == i+1 {
			if err := out.Frame(blocks); err != nil {
				return err
			}
			continue
		}
		out.Row(cells, row.header)
		if out.Full() && reach == i+1 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// rowsOf returns a table's rows without those of nested tables. The header is the thead and any leading rows of
// only th.
func rowsOf(table *html.Node) (rows []tableRow, caption *html.Node) {
	for part := range table.ChildNodes() {
		if part.Type != html.ElementNode || skipped(part) {
			continue
		}
		switch part.DataAtom {
		case atom.Caption:
			caption = part
		case atom.Thead, atom.Tbody, atom.Tfoot:
			for tr := range part.ChildNodes() {
				if tr.DataAtom == atom.Tr && !skipped(tr) {
					rows = append(rows, rowOf(tr, part.DataAtom == atom.Thead))
				}
			}
		case atom.Tr:
			rows = append(rows, rowOf(part, false))
		}
	}
	return rows, caption
}

func rowOf(tr *html.Node, header bool) tableRow {
	row := tableRow{header: header}
	names := 0
	for c := range tr.ChildNodes() {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || skipped(c) {
			continue
		}
		if c.DataAtom == atom.Th {
			names++
		}
		row.cells = append(row.cells, c)
	}
	row.header = header || names > 0 && names == len(row.cells)
	return row
}

// isLayout recognizes layout tables: declared as such, with a single cell, or with the headings of a page in their
// cells.
func isLayout(table *html.Node, rows []tableRow) bool {
	switch strings.ToLower(attr(table, "role")) {
	case "presentation", "none":
		return true
	}
	cells := 0
	for _, row := range rows {
		cells += len(row.cells)
	}
	if cells <= 1 {
		return true
	}
	for _, row := range rows {
		if row.header {
			return false
		}
		if slices.ContainsFunc(row.cells, hasHeading) {
			return !isGrid(rows)
		}
	}
	return false
}

// maxGridCell is the longest text of a cell, in bytes, of a table whose cells have headings.
const maxGridCell = 1000

// isGrid reports whether a table whose cells have headings is one of data: rows of several short cells, each with at
// most one heading, which is not the page's.
func isGrid(rows []tableRow) bool {
	if len(rows) < 2 {
		return false
	}
	for _, row := range rows {
		if len(row.cells) < 2 || !slices.ContainsFunc(row.cells, func(n *html.Node) bool { return n.FirstChild != nil }) {
			return false
		}
		for _, cell := range row.cells {
			headings, bytes := 0, 0
			for n := range cell.Descendants() {
				switch n.DataAtom {
				case atom.H1, atom.Table:
					return false
				case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
					headings++
				}
				if n.Type == html.TextNode {
					bytes += len(n.Data)
				}
				if headings > 1 || bytes > maxGridCell {
					return false
				}
			}
		}
	}
	return true
}

// cell flattens a cell to its text, and returns also its blocks.
func (w *walker) cell(n *html.Node, rowsLeft int) (cell extract.Cell, blocks []extract.Block, err error) {
	inner := &walker{ctx: w.ctx, resolve: w.resolve, emit: func(b extract.Block) error {
		blocks = append(blocks, b)
		return nil
	}}
	if err := inner.block(n); err != nil {
		return extract.Cell{}, nil, err
	}
	cell = extract.CellOf(blocks)
	if span := spanOf(n, "colspan", maxColSpan); span > 1 {
		cell.ColSpan = span
	}
	rows := spanOf(n, "rowspan", maxRowSpan)
	if rows == 0 { // rowspan=0: to the end of the table
		rows = rowsLeft
	}
	if rows = min(rows, rowsLeft); rows > 1 {
		cell.RowSpan = rows
	}
	return cell, blocks, nil
}

func spanOf(n *html.Node, name string, limit int) int {
	span, err := strconv.Atoi(strings.TrimSpace(attr(n, name)))
	if err != nil || span < 0 {
		return 1
	}
	return min(span, limit)
}
