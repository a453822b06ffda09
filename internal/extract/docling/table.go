package docling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The largest table, as in Excel, and the most cells, including empty ones between others.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
	maxCells   = 5_000_000
)

// table emits a table, preceded by its captions and followed by its footnotes.
func (w *walk) table(item *docling.Item, s scope) error {
	if err := w.captions(item.Captions, s); err != nil {
		return err
	}
	if item.Table != nil {
		if err := w.cells(item.Table, item.Places, s); err != nil {
			return err
		}
	}
	if err := w.captions(item.Footnotes, s); err != nil {
		return err
	}
	return w.children(item, s)
}

// picture emits a picture with its captions, a model's description, and a chart's values. Text in the picture
// is omitted, as in Docling's own Markdown.
func (w *walk) picture(item *docling.Item, s scope) error {
	if err := w.captions(item.Captions, s); err != nil {
		return err
	}
	description, chart := about(item)
	if err := w.block(extract.Block{Kind: extract.Picture, Text: description}, item.Places, s); err != nil {
		return err
	}
	if chart != nil {
		if chart.Title != "" {
			if err := w.block(extract.Block{Kind: extract.Caption, Text: chart.Title}, item.Places, s); err != nil {
				return err
			}
		}
		if err := w.cells(&chart.Data, item.Places, s); err != nil {
			return err
		}
	}
	return w.captions(item.Footnotes, s)
}

// about returns what models report about a picture: a description or its most likely class, and a chart's
// values.
func about(item *docling.Item) (text string, chart *docling.Chart) {
	var classes []docling.Prediction
	if m := item.Meta; m != nil {
		if m.Description != nil {
			text = m.Description.Text
		}
		if m.Classification != nil {
			classes = m.Classification.Predictions
		}
		chart = m.Chart
	}
	for i := range item.Notes {
		n := &item.Notes[i]
		switch {
		case n.Kind == "description" && text == "":
			text = n.Text
		case n.Kind == "classification" && classes == nil:
			classes = n.Classes
		case n.Kind == "tabular_chart_data" && chart == nil:
			chart = &n.Chart
		}
	}
	if text == "" && len(classes) > 0 {
		text = strings.ReplaceAll(classes[0].Class, "_", " ")
	}
	return text, chart
}

// cells emits a table's rows in slices. Cells are placed by their offsets; positions without a cell are empty
// cells.
func (w *walk) cells(data *docling.TableData, at []docling.Place, s scope) error {
	cells := make([]cell, len(data.Cells))
	for i, c := range data.Cells {
		cells[i].Cell = c
	}
	slices.SortStableFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Column, b.Column))
	})
	columns, err := check(cells, min(max(data.Columns, 0), maxColumns))
	if err != nil {
		return err
	}
	like := extract.Block{}
	if len(at) > 0 && !s.place {
		like.Page, like.Box = w.place(at)
	}
	g := &grid{writer: extract.NewTableWriter(w.emit, like), columns: columns, covered: make([]int, columns)}
	for next := 0; len(cells) > 0; next++ {
		row := cells[0].Row
		if next < g.reach && next < row { // a row in which cells from above take all positions that are not empty
			row = next
		}
		next = row
		n := slices.IndexFunc(cells, func(c cell) bool { return c.Row != row })
		if cells[0].Row != row {
			n = 0
		} else if n < 0 {
			n = len(cells)
		}
		if err := w.rich(cells[:n]); err != nil {
			return err
		}
		if err := g.row(row, cells[:n]); err != nil {
			return err
		}
		cells = cells[n:]
	}
	return g.writer.Flush()
}

// check limits the cells' offsets and returns the number of columns.
func check(cells []cell, columns int) (int, error) {
	for i := range cells {
		c := &cells[i]
		if c.Row < 0 || c.Column < 0 || c.Row >= maxRows || c.Column >= maxColumns {
			return 0, taskerr.Errorf(taskerr.CorruptionDetected,
				"a table has a cell outside of every sheet (row %d, column %d)", c.Row, c.Column)
		}
		c.RowEnd = min(max(c.RowEnd, c.Row+1), maxRows)
		c.ColumnEnd = min(max(c.ColumnEnd, c.Column+1), maxColumns)
		columns = max(columns, c.ColumnEnd)
	}
	return columns, nil
}

// cell is a cell with the links of its content.
type cell struct {
	docling.Cell
	links []extract.Link
}

// rich sets the text and links of cells that refer to their content.
func (w *walk) rich(cells []cell) error {
	for i := range cells {
		if cells[i].Ref == nil {
			continue
		}
		array, item := w.find(*cells[i].Ref)
		if item == nil {
			continue
		}
		var blocks []extract.Block
		inner := w.with(func(b extract.Block) error {
			blocks = append(blocks, b)
			return nil
		})
		if err := inner.item(array, item, nil, 0, scope{place: true}); err != nil {
			return err
		}
		if content := extract.CellOf(blocks); content.Text != "" {
			cells[i].Text, cells[i].links = content.Text, content.Links
		}
	}
	return nil
}

// grid places cells into rows.
type grid struct {
	writer  *extract.TableWriter
	columns int
	covered []int // by column: the row before which a cell from above ends
	reach   int   // the row before which all cells so far end
	total   int   // cells so far
}

func (g *grid) row(row int, cells []cell) error {
	if g.writer.Full() && g.reach <= row {
		if err := g.writer.Flush(); err != nil {
			return err
		}
	}
	var line []extract.Cell
	header := false
	for column := 0; column < g.columns; {
		if g.covered[column] > row {
			column++
			continue
		}
		// A cell whose position is taken moves to the right, so that no text is lost.
		if len(cells) == 0 || cells[0].Column > column {
			line = append(line, extract.Cell{})
			column++
			continue
		}
		c := cells[0]
		cells = cells[1:]
		width := g.width(row, column, c.ColumnEnd-c.Column)
		for i := range width {
			g.covered[column+i] = c.RowEnd
		}
		line = append(line, extract.Cell{Text: c.Text, ColSpan: span(width), RowSpan: span(c.RowEnd - row), Links: c.links})
		header = header || c.ColumnHeader
		g.reach = max(g.reach, c.RowEnd)
		column += width
	}
	for _, c := range cells { // no position was left for them
		line = append(line, extract.Cell{Text: c.Text, Links: c.links})
	}
	if g.total += len(line); g.total > maxCells {
		return taskerr.Errorf(taskerr.QuotaExceeded, "a table has more than %d cells: split it into smaller files",
			maxCells)
	}
	g.writer.Row(line, header)
	return nil
}

// width returns how many of the wanted columns are free.
func (g *grid) width(row, column, wanted int) int {
	n := 1
	for n < wanted && column+n < g.columns && g.covered[column+n] <= row {
		n++
	}
	return n
}

// span returns n, or 0 for 1, as extract.Cell expects.
func span(n int) int {
	if n == 1 {
		return 0
	}
	return n
}
