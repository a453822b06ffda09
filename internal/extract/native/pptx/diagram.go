package pptx

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// model is the data of a diagram (SmartArt, 21.4): points with text, and their parents.
type model struct {
	points []*point
	byID   map[string]*point
}

type point struct {
	kind     string
	text     string
	children []link
	child    bool
}

type link struct {
	order int
	to    *point
}

// diagram returns the texts of a SmartArt as a nested list.
func (r *reader) diagram(part string) ([]extract.Block, error) {
	m := &model{byID: map[string]*point{}}
	err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error {
		r.d = d
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "pt":
				return r.point(m, start)
			case "cxn":
				return r.connection(m, start)
			}
			return nil
		})
	})
	if err := ooxml.Optional(err); err != nil {
		return nil, err
	}
	var blocks []extract.Block
	seen := map[*point]bool{}
	var walk func(p *point, depth int)
	walk = func(p *point, depth int) {
		if seen[p] || depth > maxLevel*2 { // deeper points follow as if they had no parent
			return
		}
		seen[p] = true
		if p.text != "" {
			blocks = append(blocks, extract.Block{
				Kind: extract.ListItem, Marker: "-", Level: min(depth, maxLevel), Text: p.text,
			})
			depth++
		}
		slices.SortStableFunc(p.children, func(a, b link) int { return cmp.Compare(a.order, b.order) })
		for _, child := range p.children {
			walk(child.to, depth)
		}
	}
	for _, p := range m.points {
		if !p.child {
			walk(p, 0)
		}
	}
	for _, p := range m.points {
		walk(p, 0)
	}
	return blocks, nil
}

// point reads a dgm:pt. Transition and presentation points hold no text of the author.
func (r *reader) point(m *model, start xml.StartElement) error {
	if err := r.item(); err != nil {
		return err
	}
	p := &point{kind: ooxml.Attr(start, "type")}
	var s shape
	err := r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local == "t" {
			return r.body(&s)
		}
		return r.d.Skip()
	}, nil)
	if p.kind == "" || p.kind == "node" || p.kind == "asst" || p.kind == "doc" {
		var lines []string
		for _, line := range s.text {
			lines = append(lines, strings.TrimSpace(line.text))
		}
		p.text = strings.Join(lines, "\n")
		m.points = append(m.points, p)
		m.byID[ooxml.Attr(start, "modelId")] = p
	}
	return err
}

// connection reads a dgm:cxn. The points precede it in the file.
func (r *reader) connection(m *model, start xml.StartElement) error {
	if err := r.item(); err != nil {
		return err
	}
	from, to := m.byID[ooxml.Attr(start, "srcId")], m.byID[ooxml.Attr(start, "destId")]
	if kind := ooxml.Attr(start, "type"); (kind == "" || kind == "parOf") && from != nil && to != nil {
		from.children = append(from.children, link{ooxml.Int(ooxml.Attr(start, "srcOrd"), 0), to})
		to.child = true
	}
	return r.d.Skip()
}
