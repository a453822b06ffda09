package docx

import (
	"encoding/xml"
	"maps"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxSpan   = 63      // columns of a Word table
	maxMerged = 4 << 20 // bytes of rows held back because merged cells span them
)

// table is a w:tbl being read.
type table struct {
	out      *extract.TableWriter
	firstRow bool            // w:tblLook: the first row is a header
	rows     int             // read so far
	held     int             // bytes since the last flush
	merges   map[int]merge   // by column: the vertically merged cell that may continue
	single   []extract.Block // blocks of the first cell
	cells    int
	last     *row // held until the next row shows whether a slice may end between the two
}

// merge is the first cell of a vertical merge.
type merge struct {
	row  *row
	cell int
}

// row is a w:tr being read.
type row struct {
	cells     []extract.Cell
	contents  [][]extract.Block // of the cells, until the row ends
	column    int
	header    bool
	deleted   bool
	continues bool // one of its cells continues the cell above
	merged    bool // one of its cells may continue below
}

// table reads a w:tbl. A table with a single cell is a frame around its content and is emitted as such.
func (r *reader) table(emit extract.Emit) error {
	if err := r.rest(emit); err != nil {
		return err
	}
	t := &table{out: extract.NewTableWriter(emit, extract.Block{}), merges: map[int]merge{}}
	main := r.main
	r.main = false
	err := r.rows(t)
	r.main = main
	if err != nil {
		return err
	}
	if t.cells == 1 {
		for _, b := range t.single {
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	}
	t.add()
	return t.out.Flush()
}

func (r *reader) rows(t *table) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "tr":
			return r.row(t)
		case "tblPr":
			return r.d.Children(func(start xml.StartElement) error {
				if start.Name.Local == "tblLook" {
					t.firstRow = firstRow(start)
				}
				return r.d.Skip()
			}, nil)
		case "del", "moveFrom", "sdtPr", "sdtEndPr", "tblGrid":
			return r.d.Skip()
		}
		return r.rows(t) // sdt, sdtContent, customXml, ins …
	}, nil)
}

// firstRow reads a w:tblLook; its flags were once a bit mask (17.4.55).
func firstRow(start xml.StartElement) bool {
	if flag := ooxml.Attr(start, "firstRow"); flag != "" {
		return on(flag)
	}
	mask, err := strconv.ParseUint(ooxml.Attr(start, "val"), 16, 16)
	return err == nil && mask&0x20 != 0
}

func (r *reader) row(t *table) error {
	w := &row{}
	if err := r.rowContent(t, w); err != nil {
		return err
	}
	if w.deleted || len(w.cells) == 0 && !w.continues {
		return nil
	}
	if t.rows == 0 && t.firstRow {
		w.header = true
	}
	t.rows++
	t.add()
	if blocks := extract.Framed(w.cells, w.contents); blocks != nil && !w.continues && !w.merged {
		clear(t.merges)
		t.held, t.single = 0, nil
		return t.out.Frame(blocks)
	}
	w.contents = nil
	// A slice ends only where no merged cell continues, or after maxMerged bytes.
	if t.out.Full() && !w.continues || t.held > maxMerged {
		maps.DeleteFunc(t.merges, func(_ int, m merge) bool { return m.row != w })
		t.held = 0
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
	t.last = w
	return nil
}

// add emits the previous row, which waited for the next one.
func (t *table) add() {
	if t.last == nil {
		return
	}
	for _, c := range t.last.cells {
		t.held += len(c.Text) + 64
	}
	t.out.Row(t.last.cells, t.last.header)
	t.last = nil
}

func (r *reader) rowContent(t *table, w *row) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "tc":
			return r.cell(t, w)
		case "trPr":
			return r.rowProperties(w)
		case "sdtPr", "sdtEndPr", "tblPrEx":
			return r.d.Skip()
		}
		return r.rowContent(t, w) // sdt, sdtContent, customXml
	}, nil)
}

func (r *reader) rowProperties(w *row) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "tblHeader":
			w.header = on(ooxml.Attr(start, "val"))
		case "del":
			w.deleted = true
		case "gridBefore":
			if n := number(start); n != nil && *n > 0 {
				empty := min(*n, maxSpan)
				if err := r.hold(empty); err != nil {
					return err
				}
				w.cells = append(w.cells, make([]extract.Cell, empty)...)
				w.contents = append(w.contents, make([][]extract.Block, empty)...)
				w.column += empty
			}
		}
		return r.d.Skip()
	}, nil)
}

// cell reads a w:tc. A cell that continues the one above (w:vMerge) extends that one.
func (r *reader) cell(t *table, w *row) error {
	if w.deleted {
		return r.d.Skip()
	}
	span, vertical := 1, ""
	var blocks []extract.Block
	err := r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local == "tcPr" {
			return r.d.Children(func(start xml.StartElement) error {
				switch start.Name.Local {
				case "gridSpan":
					if n := number(start); n != nil {
						span = min(max(*n, 1), maxSpan)
					}
				case "vMerge":
					if vertical = ooxml.Attr(start, "val"); vertical == "" {
						vertical = "continue"
					}
				}
				return r.d.Skip()
			}, nil)
		}
		return r.cellContent(start, r.into(&blocks))
	}, nil)
	if err == nil {
		err = r.rest(r.into(&blocks))
	}
	if err != nil {
		return err
	}
	if t.cells++; t.cells == 1 {
		t.single = blocks
	} else {
		t.single = nil
	}
	before := len(w.cells)
	t.place(w, blocks, span, vertical)
	return r.hold(len(w.cells) - before)
}

// cellContent reads one block-level child of a w:tc.
func (r *reader) cellContent(start xml.StartElement, emit extract.Emit) error {
	switch start.Name.Local {
	case "p":
		return r.paragraph(emit)
	case "tbl":
		return r.table(emit)
	case "AlternateContent":
		return r.d.Choice(func() error { return r.blocks(emit) })
	case "del", "moveFrom", "sdtPr", "sdtEndPr":
		return r.d.Skip()
	case "altChunk":
		return r.imported(start, emit)
	}
	return r.blocks(emit)
}

func (t *table) place(w *row, blocks []extract.Block, span int, vertical string) {
	at := w.column
	w.column += span
	if above, ok := t.merges[at]; ok && vertical == "continue" {
		cell := &above.row.cells[above.cell]
		cell.RowSpan = max(cell.RowSpan, 1) + 1
		w.continues = true
		return
	}
	delete(t.merges, at)
	cell := extract.CellOf(blocks)
	if span > 1 {
		cell.ColSpan = span
	}
	w.cells, w.contents = append(w.cells, cell), append(w.contents, blocks)
	if vertical == "restart" {
		w.merged = true
		t.merges[at] = merge{row: w, cell: len(w.cells) - 1}
	}
}
