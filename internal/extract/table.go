package extract

import (
	"slices"
	"strings"
)

// The size of a slice of a long table, whichever is reached first.
const (
	sliceRows  = 500
	sliceBytes = 256 << 10
	cellBytes  = 64 // what an empty cell counts as
	linkBytes  = 64 // what a link counts as
)

// The maximum header, because every slice repeats it. Further header rows are ordinary rows.
const (
	MaxHeaders  = 50 // rows
	headerBytes = 64 << 10
)

// TableWriter emits a table of any length in slices, so that it never has to fit into memory. Each slice starts
// with the header rows. Spans must not cross a Flush.
type TableWriter struct {
	emit    Emit
	block   Block // template of each slice: kind, page, box
	header  [][]Cell
	rows    [][]Cell
	bytes   int
	started bool // the header is complete: another row came
	slices  int
}

// NewTableWriter returns a TableWriter. The blocks get their page, box and language from like.
func NewTableWriter(emit Emit, like Block) *TableWriter {
	like.Kind, like.Text, like.Table = TableKind, "", nil
	return &TableWriter{emit: emit, block: like}
}

// Row adds a row. A header row counts as one only before the first other row.
func (t *TableWriter) Row(cells []Cell, header bool) {
	if header && !t.started && len(t.header) < MaxHeaders && t.bytes < headerBytes {
		t.header = append(t.header, cells)
	} else {
		t.started = true
		t.rows = append(t.rows, cells)
	}
	t.bytes += cellBytes
	for _, c := range cells {
		t.bytes += cellBytes + len(c.Text) + linkBytes*len(c.Links)
	}
}

// Full reports whether the slice is large enough to be flushed.
func (t *TableWriter) Full() bool { return len(t.rows) >= sliceRows || t.bytes >= sliceBytes }

// Held returns what the rows since the last Flush hold in memory, in bytes. Every cell counts, even an empty one.
func (t *TableWriter) Held() int { return t.bytes }

// Flush emits the rows so far, if any.
func (t *TableWriter) Flush() error {
	if len(t.rows) == 0 && (t.slices > 0 || len(t.header) == 0) {
		return nil
	}
	block := t.block
	rows := make([][]Cell, 0, len(t.header)+len(t.rows))
	for _, row := range t.header {
		rows = append(rows, append([]Cell(nil), row...)) // copied for each slice, because blocks are cleaned in place
	}
	if t.slices > 0 {
		endHeader(rows)
	}
	block.Table = &Table{Rows: append(rows, t.rows...), Headers: len(t.header), Continued: t.slices > 0}
	t.rows, t.bytes, t.started = nil, 0, true
	t.slices++
	if table := block.Table; len(table.Rows) > 0 {
		return t.emit(block)
	}
	return nil
}

// endHeader ends the cells of a repeated header with it. Those that span rows below it in the first slice are above these
// rows alone.
func endHeader(header [][]Cell) {
	for i, row := range header {
		for j := range row {
			if left := len(header) - i; row[j].RowSpan > left {
				row[j].RowSpan = 0
				if left > 1 {
					row[j].RowSpan = left
				}
			}
		}
	}
}

// Frame emits the rows so far, and then the blocks of a row that is a frame (Framed). The rows after it are another table.
func (t *TableWriter) Frame(blocks []Block) error {
	if err := t.Flush(); err != nil {
		return err
	}
	*t = TableWriter{emit: t.emit, block: t.block}
	for _, b := range blocks {
		if err := t.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// frameBytes is the longest text, in bytes, of a cell of several blocks that is still read as one of data.
const frameBytes = 1000

// Framed returns the blocks of a row that is a frame around a part of the document and not data: a cell is a long text
// with a structure of its own. That is a table among other blocks, as in a page that a table lays out, or in the only
// cell with text any blocks. contents has the blocks of each cell. nil: it is a row of data.
func Framed(row []Cell, contents [][]Block) []Block {
	var all []Block
	filled, longest := 0, 0
	for i, cell := range row {
		if cell.RowSpan > 1 {
			return nil
		}
		if Clean(cell.Text) == "" {
			continue
		}
		filled++
		all = append(all, contents[i]...)
		if len(cell.Text) > len(row[longest].Text) {
			longest = i
		}
	}
	if filled == 0 || len(row[longest].Text) <= frameBytes {
		return nil
	}
	blocks := contents[longest]
	tables := slices.ContainsFunc(blocks, func(b Block) bool { return b.Table != nil })
	if several := len(blocks) > 1; several && tables || filled == 1 && (several || tables) {
		return all
	}
	return nil
}

// CellText flattens the blocks within a cell to text: one line per block, list items with their markers, a
// nested table row by row.
func CellText(blocks []Block) string { return CellOf(blocks).Text }

// CellOf returns a cell with the text of the blocks within it as CellText has it, and their links.
func CellOf(blocks []Block) Cell {
	var c cellWriter
	for _, block := range blocks {
		switch {
		case block.Table != nil:
			for _, row := range block.Table.Rows {
				c.row(row)
			}
		case block.Kind == ListItem && block.Marker != "":
			c.begin()
			c.text.WriteString(block.Marker + " ")
			c.put(block.Text, block.Links)
		default:
			c.line(block.Text, block.Links)
		}
	}
	return Cell{Text: c.text.String(), Links: c.links}
}

// cellWriter writes lines of a cell.
type cellWriter struct {
	text  strings.Builder
	links []Link
}

func (c *cellWriter) begin() {
	if c.text.Len() > 0 {
		c.text.WriteByte('\n')
	}
}

func (c *cellWriter) put(text string, links []Link) {
	text, links = cleanLinked(text, links)
	if len(c.links)+len(links) <= maxTextLinks {
		c.links = append(c.links, Shift(links, c.text.Len())...)
	}
	c.text.WriteString(text)
}

func (c *cellWriter) line(text string, links []Link) {
	if Clean(text) != "" {
		c.begin()
		c.put(text, links)
	}
}

// row writes a row of a nested table.
func (c *cellWriter) row(cells []Cell) {
	first := true
	for _, cell := range cells {
		switch {
		case Clean(cell.Text) == "":
			continue
		case first:
			c.begin()
		default:
			c.text.WriteString(" | ")
		}
		first = false
		c.put(cell.Text, cell.Links)
	}
}
