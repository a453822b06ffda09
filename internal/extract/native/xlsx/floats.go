package xlsx

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/chart"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/diagram"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const maxFloats = 10_000

// float is an object above the cells: a chart, a diagram or a text box.
type float struct {
	row     int    // row of its top edge, from 1
	chart   string // the part
	diagram string // the part
	text    string
}

// readFloats reads the drawing of the sheet (20.5), if part is not "".
func (s *sheet) readFloats(part string) error {
	if part == "" {
		return nil
	}
	relations, err := s.r.pkg.Relations(s.r.ctx, part)
	if err != nil {
		return err
	}
	err = s.r.pkg.Read(s.r.ctx, part, func(d *ooxml.Decoder) error {
		row, from := 1, false
		return d.Each(func(start xml.StartElement) error {
			f := float{row: row}
			switch start.Name.Local {
			case "from", "to":
				from = start.Name.Local == "from"
			case "row":
				text, err := d.Text(maxText)
				if from {
					row = ooxml.Int(text, 0) + 1
				}
				return err
			case "chart":
				f.chart = s.r.once(relations[ooxml.RelationID(start, "id")].Target)
			case "relIds":
				f.diagram = s.r.once(relations[ooxml.RelationID(start, "dm")].Target)
			case "txBody":
				var err error
				if f.text, err = drawingText(d); err != nil {
					return err
				}
			case "Fallback":
				return d.Skip()
			}
			return s.addFloat(f)
		})
	})
	slices.SortStableFunc(s.floats, func(a, b float) int { return cmp.Compare(a.row, b.row) })
	return ooxml.Optional(err)
}

func (s *sheet) addFloat(f float) error {
	if f.chart == "" && f.diagram == "" && f.text == "" {
		return nil
	}
	if len(s.floats) == maxFloats {
		return taskerr.Errorf(taskerr.QuotaExceeded, "sheet %d has more than %d charts and text boxes: it is not read",
			s.page, maxFloats)
	}
	s.floats = append(s.floats, f)
	return s.r.spend(len(f.text))
}

// drawingText reads an xdr:txBody, one line per paragraph.
func drawingText(d *ooxml.Decoder) (string, error) {
	var b strings.Builder
	var walk func() error
	walk = func() error {
		return d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "p", "br":
				b.WriteByte('\n')
			case "t":
				text, err := d.Text(maxText)
				if b.Len()+len(text) <= maxText {
					b.WriteString(text)
				}
				return err
			case "oMath", "oMathPara":
				text, err := formula.Read(d, start)
				if b.Len()+len(text) <= maxText {
					b.WriteString(formula.After(b.String(), text))
				}
				return err
			}
			return walk()
		}, nil)
	}
	err := walk()
	return strings.TrimSpace(b.String()), err
}

// emitFloats emits the objects above a row, or all for 0.
func (s *sheet) emitFloats(row int) error {
	for len(s.floats) > 0 && (row == 0 || s.floats[0].row < row) {
		f := s.floats[0]
		s.floats = s.floats[1:]
		blocks, err := s.blocks(f)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if err := s.emit(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// blocks returns the blocks of an object.
func (s *sheet) blocks(f float) (blocks []extract.Block, err error) {
	switch {
	case f.chart != "":
		err = s.r.pkg.Read(s.r.ctx, f.chart, func(d *ooxml.Decoder) error {
			blocks, err = chart.Read(d, extract.Block{}, s.r.spend)
			return err
		})
	case f.diagram != "":
		err = s.r.pkg.Read(s.r.ctx, f.diagram, func(d *ooxml.Decoder) error {
			blocks, err = diagram.Read(d, s.r.spend)
			return err
		})
	default:
		blocks = []extract.Block{{Kind: extract.Paragraph, Text: f.text}}
	}
	return blocks, ooxml.Optional(err)
}

// once returns a part, or "" if it was read before: a small file may refer to a large part any number of times.
func (r *reader) once(part string) string {
	if part == "" || r.read[part] {
		return ""
	}
	r.read[part] = true
	return part
}
