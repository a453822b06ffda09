package pptx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxColumns = 75 // PowerPoint's limit
	maxRows    = 1000
)

// table reads an a:tbl (21.1.3.13).
func (r *reader) table(s *shape) error {
	out := extract.NewTableWriter(func(b extract.Block) error {
		s.table = append(s.table, b)
		return nil
	}, extract.Block{})
	header, rows, open := false, 0, 0
	err := r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "tblPr":
			header = ooxml.On(ooxml.Attr(start, "firstRow"), false)
		case "tr":
			cells, down, err := r.row()
			if err != nil {
				return err
			}
			out.Row(cells, header && rows == 0)
			open = max(open-1, down-1)
			if rows++; out.Full() && open <= 0 { // no spanning cell continues into the next slice
				return out.Flush()
			}
			return nil
		}
		return r.d.Skip()
	}, nil)
	if err != nil {
		return err
	}
	return out.Flush()
}

// row reads an a:tr. down is the largest row span of its cells.
func (r *reader) row() (cells []extract.Cell, down int, err error) {
	down = 1
	err = r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "tc" {
			return r.d.Skip()
		}
		if err := r.item(); err != nil {
			return err
		}
		if ooxml.On(ooxml.Attr(start, "hMerge"), false) || ooxml.On(ooxml.Attr(start, "vMerge"), false) {
			return r.d.Skip()
		}
		var s shape
		err := r.d.Children(func(start xml.StartElement) error {
			if start.Name.Local == "txBody" {
				return r.body(&s)
			}
			return r.d.Skip()
		}, nil)
		cell := extract.CellOf(blocksOf(&s, nil))
		if n := min(ooxml.Int(ooxml.Attr(start, "gridSpan"), 1), maxColumns); n > 1 {
			cell.ColSpan = n
		}
		if n := min(ooxml.Int(ooxml.Attr(start, "rowSpan"), 1), maxRows); n > 1 {
			cell.RowSpan = n
			down = max(down, n)
		}
		cells = append(cells, cell)
		return err
	}, nil)
	return cells, down, err
}
