package pptx

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// styleID names the style of tables in the deck's own presentations, and mediumStyle that of PowerPoint, which every
// template has.
const (
	styleID     = "{7A3E2C51-5B0D-4E43-9C29-8F3D6A2B1E70}"
	mediumStyle = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"
)

// tableStyles are those of the deck's own presentations: thin lines, a dark header, every second row shaded.
func tableStyles() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("a:tblStyleLst", "xmlns:a", nsDrawing, "def", styleID)
	m.begin("a:tblStyle", "styleId", styleID, "styleName", "Deck")
	line := func(name string) string {
		return "<a:" + name + `><a:ln w="9525"><a:solidFill><a:schemeClr val="tx2"><a:tint val="40000"/></a:schemeClr></a:solidFill></a:ln></a:` +
			name + ">"
	}
	m.WriteString(`<a:wholeTbl><a:tcTxStyle><a:fontRef idx="minor"/><a:schemeClr val="tx1"/></a:tcTxStyle><a:tcStyle><a:tcBdr>` +
		line("top") + line("bottom") + line("insideH") + `</a:tcBdr><a:fill><a:noFill/></a:fill></a:tcStyle></a:wholeTbl>` +
		`<a:band1H><a:tcStyle><a:tcBdr/><a:fill><a:solidFill><a:schemeClr val="bg2"/></a:solidFill></a:fill></a:tcStyle></a:band1H>` +
		`<a:firstRow><a:tcTxStyle b="on"><a:fontRef idx="minor"/><a:schemeClr val="bg1"/></a:tcTxStyle><a:tcStyle><a:tcBdr/>` +
		`<a:fill><a:solidFill><a:schemeClr val="tx2"/></a:solidFill></a:fill></a:tcStyle></a:firstRow>`)
	m.ends(2)
	return m.Bytes()
}

// table writes a native table.
func (d *drawing) table(e *deck.Element) error {
	t := e.Table
	places, err := t.Grid()
	if err != nil {
		return fmt.Errorf("a table %w", err)
	}
	grid := make([][]*deck.Place, len(t.Rows))
	for i := range grid {
		grid[i] = make([]*deck.Place, len(t.Columns))
	}
	for i := range places {
		p := &places[i]
		for r := p.Row; r < min(p.Row+p.RowSpan, len(grid)); r++ {
			for c := p.Column; c < p.Column+p.ColSpan; c++ {
				grid[r][c] = p
			}
		}
	}
	d.beginFrame(e, "Table")
	m := d.m
	m.begin("a:graphicData", "uri", "http://schemas.openxmlformats.org/drawingml/2006/table")
	m.begin("a:tbl")
	m.begin("a:tblPr", "firstRow", flag(t.Headers > 0), "bandRow", flag(t.Banded), "rtl", flag(t.RTL))
	id := styleID
	if d.options.Template != nil {
		id = d.options.Template.tableStyle
	}
	m.leaf("a:tableStyleId", id)
	m.end()
	m.begin("a:tblGrid")
	for _, w := range t.Columns {
		m.empty("a:gridCol", "w", num(w))
	}
	m.end()
	for r := range grid {
		m.begin("a:tr", "h", num(t.Rows[r].Height))
		for c := range grid[r] {
			d.cell(grid[r][c], r, c, t.Headers)
		}
		m.end()
	}
	m.ends(4) // a:tbl, a:graphicData, a:graphic, p:graphicFrame
	return nil
}

// beginFrame begins a p:graphicFrame up to its a:graphic.
func (d *drawing) beginFrame(e *deck.Element, kind string) {
	m := d.m
	m.begin("p:graphicFrame")
	m.begin("p:nvGraphicFramePr")
	d.properties(e, kind)
	m.WriteString(`<p:cNvGraphicFramePr><a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/>`)
	m.end()
	box := *d.box(e)
	box.Rotation, box.FlipH, box.FlipV = 0, false, false
	d.place("p:xfrm", &box)
	m.begin("a:graphic")
}

// cell writes a position of a table: a cell where it begins, and what it merges elsewhere. p is nil where a row has too
// few cells.
func (d *drawing) cell(p *deck.Place, r, c, headers int) {
	m := d.m
	if p == nil || p.Row != r || p.Column != c {
		across, down := "", ""
		if p != nil {
			across, down = flag(p.Column != c), flag(p.Row != r)
		}
		// A merged position repeats the spans that reach over it.
		rows, columns := "", ""
		if p != nil && p.Row == r && p.RowSpan > 1 {
			rows = num(p.RowSpan)
		}
		if p != nil && p.Column == c && p.ColSpan > 1 {
			columns = num(p.ColSpan)
		}
		m.begin("a:tc", "rowSpan", rows, "gridSpan", columns, "hMerge", across, "vMerge", down)
		m.WriteString("<a:txBody><a:bodyPr/><a:lstStyle/><a:p/></a:txBody><a:tcPr/>")
		m.end()
		return
	}
	span := func(n int) string {
		if n > 1 {
			return num(n)
		}
		return ""
	}
	m.begin("a:tc", "rowSpan", span(p.RowSpan), "gridSpan", span(p.ColSpan))
	m.begin("a:txBody")
	m.WriteString("<a:bodyPr/><a:lstStyle/>")
	d.paragraphs(&p.Text, func(int) deck.Style {
		if r < headers {
			return deck.Style{Bold: true}
		}
		return deck.Style{}
	})
	m.end()
	m.begin("a:tcPr", "anchor", anchorNames[p.Text.Anchor])
	if p.Fill != "" {
		d.solid(m, p.Fill, 0)
	}
	m.ends(2)
}
