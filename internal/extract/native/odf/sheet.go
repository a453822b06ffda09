package odf

import (
	"encoding/xml"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rowspan"
)

// The rows of a region held back to see which leading columns are empty, whichever is reached first.
const (
	waitingRows  = 200
	waitingCells = 1 << 18
)

// spreadsheet reads an office:spreadsheet: a section per visible sheet.
func (r *reader) spreadsheet() error {
	return r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "table" || r.styles.hidden("table", ooxml.Attr(start, "style-name")) {
			return r.d.Skip()
		}
		return r.sheet(ooxml.Attr(start, "name"))
	}, nil)
}

// sheet reads a sheet. Empty rows separate its tables; its drawings follow them.
func (r *reader) sheet(name string) error {
	named := false
	emit := func(b extract.Block) error {
		if !named { // an empty sheet has no heading
			named = true
			if err := r.top(extract.Block{Kind: extract.Heading, Level: 1, Text: name}); err != nil {
				return err
			}
		}
		return r.top(b)
	}
	var shapes []extract.Block
	r.shapes = &shapes
	g := &region{emit: emit}
	err := r.rows(false, func(w *row, header bool, repeats int) error {
		if w.filled == 0 && g.rows >= g.reach {
			return g.end()
		}
		for i := range repeats {
			if err := r.spendRow(w, i); err != nil {
				return err
			}
			if err := g.add(w, header); err != nil {
				return err
			}
		}
		return nil
	})
	r.shapes = nil
	if err != nil {
		return err
	}
	if err := g.end(); err != nil {
		return err
	}
	for _, b := range shapes {
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// region is a table on a sheet: consecutive rows that are not empty.
type region struct {
	emit    extract.Emit
	out     *rowspan.Writer // nil while the first rows are held back
	waiting []*row
	cells   int // of waiting
	header  []bool
	left    int // empty columns before it
	rows    int
	reach   int // the first row that no cell above spans
}

func (g *region) add(w *row, header bool) error {
	g.rows++
	g.reach = max(g.reach, g.rows-1+max(w.tall, 1))
	if g.out == nil {
		g.waiting, g.header = append(g.waiting, w), append(g.header, header)
		if g.cells += len(w.cells); len(g.waiting) < waitingRows && g.cells < waitingCells {
			return nil
		}
		return g.start()
	}
	return g.write(w, header)
}

// start writes the rows that were held back.
func (g *region) start() error {
	g.out = rowspan.New(g.emit, extract.Block{})
	g.left = math.MaxInt
	for _, w := range g.waiting {
		if w.filled > 0 {
			g.left = min(g.left, leading(w))
		}
	}
	g.header[0] = g.header[0] || g.headed()
	waiting := g.waiting
	g.waiting = nil
	for i, w := range waiting {
		if err := g.write(w, g.header[i]); err != nil {
			return err
		}
	}
	return nil
}

// headed reports whether the first row is a header: of text above a row of values, or of years or dates.
func (g *region) headed() bool {
	first := g.waiting[0]
	if len(g.waiting) < 2 || first.filled < 2 || first.tall > 1 {
		return false
	}
	if first.values == 0 {
		return g.waiting[1].values > 0
	}
	var rows [][]extract.Value
	for _, w := range g.waiting[:min(len(g.waiting), extract.ComparedRows+1)] {
		rows = append(rows, w.shown(g.left))
	}
	return extract.PeriodHeader(rows)
}

// shown returns the values of a row of a table with empty columns before it.
func (w *row) shown(left int) (values []extract.Value) {
	column := -left
	for i, c := range w.cells {
		values = append(values, extract.Value{Column: column, Kind: w.kinds[i], Text: c.Text})
		column += max(c.ColSpan, 1)
	}
	return values
}

// leading counts the empty cells at the start of a row.
func leading(w *row) int {
	for i, c := range w.cells {
		if c.Text != "" || c.RowSpan > 1 {
			return i
		}
	}
	return len(w.cells)
}

func (g *region) write(w *row, header bool) error {
	g.out.Row(append([]extract.Cell(nil), w.cells[min(g.left, leading(w)):]...), header)
	return g.out.End(g.rows >= g.reach)
}

// end writes out the region. A single cell becomes a paragraph, for example a title above a table.
func (g *region) end() error {
	defer func() { *g = region{emit: g.emit} }()
	if len(g.waiting) == 1 && g.waiting[0].filled == 1 {
		cells := g.waiting[0].cells
		only := cells[leading(g.waiting[0])]
		return g.emit(extract.Block{Kind: extract.Paragraph, Text: only.Text, Links: only.Links})
	}
	if len(g.waiting) > 0 {
		if err := g.start(); err != nil {
			return err
		}
	}
	if g.out == nil {
		return nil
	}
	return g.out.Flush()
}
