package pptx

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/diagram"
)

// graphic reads a p:graphicFrame: a table, a chart, a diagram, or an embedded object's picture.
func (s *sheet) graphic(n *node, f frame) error {
	e := deck.Element{Box: f.box(n.kid("xfrm"))}
	if ph := n.find("ph"); ph != nil {
		kind, index := ph.attr("type"), int(ph.num("idx", 0))
		if e.Index = index; e.Box == nil {
			e.Box = s.look.box(kind, index)
		}
		e.Role = roleOf(kind)
	}
	s.about(&e, n)
	data := n.at("graphic", "graphicData")
	switch {
	case data.kid("tbl") != nil:
		e.Kind, e.Table = deck.TableElement, s.table(data.kid("tbl"))
		if e.Table == nil {
			return nil
		}
		return s.addTable(e, n)
	case data.kid("chart") != nil:
		c, err := s.chart(s.relations[data.kid("chart").rel("id")].Target)
		if err != nil || c == nil {
			return err
		}
		e.Kind, e.Chart = deck.ChartElement, c
		return s.add(e, n)
	case data.kid("relIds") != nil:
		text, err := s.diagram(s.relations[data.kid("relIds").rel("dm")].Target)
		if err != nil || text == nil {
			return err
		}
		s.warn("diagrams (SmartArt) are kept as lists of their texts")
		e.Kind, e.Role, e.Text = deck.TextElement, "", text
		return s.add(e, n)
	}
	if pic := data.find("pic"); pic != nil {
		s.warn("embedded objects are kept as pictures")
		return s.pictureOf(pic, e, n)
	}
	s.warn("embedded objects without a picture are not kept")
	return nil
}

func (s *sheet) addTable(e deck.Element, n *node) error {
	for _, row := range e.Table.Rows {
		for i := range row.Cells {
			if err := s.spend(row.Cells[i].Text.Plain()); err != nil {
				return err
			}
		}
	}
	return s.add(e, n)
}

// diagram reads the text of a SmartArt.
func (s *sheet) diagram(part string) (*deck.Text, error) {
	var blocks []extract.Block
	err := s.pkg.Read(s.ctx, part, func(d *ooxml.Decoder) (err error) {
		blocks, err = diagram.Read(d, func(n int) error { return s.spend(strings.Repeat("x", min(n, 1<<20))) })
		return err
	})
	if err != nil || len(blocks) == 0 {
		return nil, ooxml.Optional(err)
	}
	t := &deck.Text{}
	for _, b := range blocks {
		p := deck.Paragraph{Runs: []deck.Run{{Text: b.Text}}, Level: min(max(b.Level, 0), levels-1)}
		if b.Kind == extract.ListItem {
			p.List = &deck.List{Kind: deck.BulletList}
		}
		t.Paragraphs = append(t.Paragraphs, p)
	}
	return t, nil
}
