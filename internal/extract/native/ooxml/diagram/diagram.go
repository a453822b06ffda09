// Package diagram reads the data of SmartArt in Office files (DrawingML, ECMA-376 part 1, 21.4): the texts of its
// points as a nested list.
package diagram

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxItems = 200_000 // points, connections and paragraphs
	maxText  = 1 << 20 // bytes of one text
	maxLevel = 8
	maxDepth = 16 // deeper points follow as if they had no parent
)

// model is the data of a diagram: points with text, and their parents.
type model struct {
	d      *ooxml.Decoder
	spend  func(bytes int) error
	points []*point
	byID   map[string]*point
	items  int
}

type point struct {
	text     string
	children []link
	child    bool
}

type link struct {
	order int
	to    *point
}

// Read returns the texts of a diagram's data part as a nested list. spend charges text as soon as it is held in memory.
// The error is spend's, or quota_exceeded for more points than a diagram can show.
func Read(d *ooxml.Decoder, spend func(bytes int) error) ([]extract.Block, error) {
	m := &model{d: d, spend: spend, byID: map[string]*point{}}
	err := d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "pt":
			return m.point(start)
		case "cxn":
			return m.connection(start)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.list(), nil
}

func (m *model) list() []extract.Block {
	var blocks []extract.Block
	seen := map[*point]bool{}
	var walk func(p *point, depth int)
	walk = func(p *point, depth int) {
		if seen[p] || depth > maxDepth {
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
	for _, p := range m.points { // of a cycle, or too deep
		walk(p, 0)
	}
	return blocks
}

// item counts a piece that is held until the diagram is read.
func (m *model) item() error {
	if m.items++; m.items > maxItems {
		return taskerr.Errorf(taskerr.QuotaExceeded, "a diagram has more than %d points: it is not read", maxItems)
	}
	return nil
}

// point reads a dgm:pt. Transition and presentation points have no text of the author.
func (m *model) point(start xml.StartElement) error {
	if err := m.item(); err != nil {
		return err
	}
	switch ooxml.Attr(start, "type") {
	case "", "node", "asst", "doc":
	default:
		return m.d.Skip()
	}
	p := &point{}
	var lines []string
	err := m.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "t" {
			return m.d.Skip()
		}
		return m.d.Children(func(start xml.StartElement) error {
			if start.Name.Local != "p" {
				return m.d.Skip()
			}
			line, err := m.paragraph()
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
			return err
		}, nil)
	}, nil)
	p.text = strings.Join(lines, "\n")
	m.points = append(m.points, p)
	if err != nil {
		return err
	}
	id := ooxml.Attr(start, "modelId")
	m.byID[id] = p
	return m.spend(len(id))
}

// paragraph reads an a:p.
func (m *model) paragraph() (string, error) {
	if err := m.item(); err != nil {
		return "", err
	}
	var b strings.Builder
	var walk func() error
	walk = func() error {
		return m.d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "t":
				text, err := m.d.Text(maxText)
				if err != nil {
					return err
				}
				b.WriteString(text)
				return m.spend(len(text))
			case "br":
				b.WriteByte('\n')
			case "pPr", "rPr", "endParaRPr":
				return m.d.Skip()
			}
			return walk()
		}, nil)
	}
	err := walk()
	return b.String(), err
}

// connection reads a dgm:cxn. The points precede it in the file.
func (m *model) connection(start xml.StartElement) error {
	if err := m.item(); err != nil {
		return err
	}
	from, to := m.byID[ooxml.Attr(start, "srcId")], m.byID[ooxml.Attr(start, "destId")]
	if kind := ooxml.Attr(start, "type"); (kind == "" || kind == "parOf") && from != nil && to != nil {
		from.children = append(from.children, link{ooxml.Int(ooxml.Attr(start, "srcOrd"), 0), to})
		to.child = true
	}
	return m.d.Skip()
}
