package pptx

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// table reads an a:tbl (21.1.3.13); nil: it has no cells.
func (s *sheet) table(n *node) *deck.Table {
	t := &deck.Table{}
	properties := n.kid("tblPr")
	if properties.kid("blipFill") != nil {
		s.warn("pictures behind tables are not kept")
	}
	t.Banded = properties.on("bandRow", false)
	t.RTL = properties.on("rtl", false)
	if properties.on("firstRow", false) {
		t.Headers = 1
	}
	for _, c := range n.kid("tblGrid").all("gridCol") {
		t.Columns = append(t.Columns, max(length(c, "w", 0), 0))
	}
	rows, styles := n.all("tr"), s.boxStyles(n, nil)
	for i, tr := range rows {
		row := deck.Row{Height: max(length(tr, "h", 0), 0)}
		for _, tc := range tr.all("tc") {
			if tc.on("hMerge", false) || tc.on("vMerge", false) {
				continue
			}
			row.Cells = append(row.Cells, s.cell(tc, styles, len(t.Columns), len(rows)-i))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 || len(t.Columns) == 0 {
		return nil
	}
	t.Headers = min(t.Headers, len(t.Rows))
	if _, err := t.Grid(); err != nil {
		s.warn("tables whose cells overlap are kept without their spans")
		unspan(t)
	}
	return t
}

// cell reads an a:tc. styles are those of the table's levels, of which a cell has the direction alone.
func (s *sheet) cell(n *node, styles []deck.Style, columns, rows int) deck.Cell {
	c := deck.Cell{Text: deck.Text{Paragraphs: []deck.Paragraph{}}}
	if t := s.body(n.kid("txBody"), "", 0, false); t != nil {
		c.Text.Paragraphs = t.Paragraphs
		for i := range t.Paragraphs {
			if p := &t.Paragraphs[i]; p.RightToLeft(deck.StyleAt(styles, p.Level)) {
				p.RTL = new(true)
			}
		}
	}
	if a := anchors[n.kid("tcPr").attr("anchor")]; a != "" {
		c.Text.Anchor = a
	}
	if span := min(int(n.num("gridSpan", 1)), columns); span > 1 {
		c.ColSpan = span
	}
	if span := min(int(n.num("rowSpan", 1)), rows); span > 1 {
		c.RowSpan = span
	}
	if n.at("tcPr", "blipFill") != nil {
		s.warn("pictures that fill cells of a table are not kept")
	}
	c.Fill, _ = s.look.filling(n.kid("tcPr"), &s.deck.Theme)
	return c
}

// unspan makes a table of cells without spans, as many as there are columns in each row.
func unspan(t *deck.Table) {
	for i := range t.Rows {
		cells := t.Rows[i].Cells
		for k := range cells {
			cells[k].ColSpan, cells[k].RowSpan = 0, 0
		}
		t.Rows[i].Cells = cells[:min(len(cells), len(t.Columns))]
	}
}

// notes reads the speaker's notes.
func (s *sheet) notes() error {
	root, relations, err := s.related("notesSlide")
	if err != nil || root == nil {
		return err
	}
	n := &sheet{reader: s.reader, relations: relations, look: s.look}
	for _, sp := range root.at("cSld", "spTree").all("sp") {
		if sp.at("nvSpPr", "nvPr", "ph").attr("type") != "body" {
			continue
		}
		if t := n.body(sp.kid("txBody"), "body", 1, false); t != nil {
			s.deckSlide.Notes = strings.TrimRight(t.Plain(), "\n")
			return s.spend(s.deckSlide.Notes)
		}
	}
	return nil
}
