package pptx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/chart"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/diagram"
)

// slide reads one slide and emits its title, its shapes by position, its notes and comments.
func (r *reader) slide(part string) error {
	relations, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return err
	}
	look, err := r.layout(ooxml.OfType(relations, "slideLayout"), "slideMaster")
	if err != nil {
		return err
	}
	r.items = 0
	r.relations = relations
	shapes, err := r.tree(part)
	r.relations = nil
	if err != nil {
		return err
	}
	r.inherit(shapes, look)
	e := &emission{r: r, relations: relations, look: look}
	if err := e.shapes(inOrder(shapes)); err != nil {
		return err
	}
	if err := r.notes(relations); err != nil {
		return err
	}
	return r.comments(relations)
}

// tree reads the shapes of a part: of a slide, a layout, a master or notes.
func (r *reader) tree(part string) ([]*shape, error) {
	var root shape
	err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error {
		r.d = d
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "sld":
				if !ooxml.On(ooxml.Attr(start, "show"), true) {
					r.hide()
				}
			case "spTree":
				return r.group(&root, frame{scaleX: 1, scaleY: 1})
			}
			return nil
		})
	})
	return root.children, err
}

// inherit gives placeholders without a position that of their layout.
func (r *reader) inherit(shapes []*shape, look *layout) {
	for _, s := range shapes {
		if s.placeholder != nil && !s.placed {
			s.area, s.placed = look.area(s.placeholder)
		}
	}
}

// emission turns the shapes of a slide into blocks.
type emission struct {
	r         *reader
	relations map[string]ooxml.Relation
	look      *layout
}

func (e *emission) shapes(shapes []*shape) error {
	for _, s := range shapes {
		if err := e.shape(s); err != nil {
			return err
		}
	}
	return nil
}

func (e *emission) shape(s *shape) error {
	if len(s.children) > 0 {
		return e.shapes(inOrder(s.children))
	}
	like := extract.Block{Page: e.r.page, Box: e.r.box(s)}
	blocks := s.table
	var err error
	switch {
	case s.chart != "":
		blocks, err = e.chart(e.relations[s.chart].Target, like)
	case s.diagram != "":
		blocks, err = e.diagram(e.relations[s.diagram].Target)
	case len(s.text) > 0:
		blocks = e.text(s)
	}
	if err != nil {
		return err
	}
	for _, b := range blocks {
		b.Page, b.Box = like.Page, like.Box
		if err := e.r.emit(b); err != nil {
			return err
		}
	}
	return nil
}

func (e *emission) chart(part string, like extract.Block) (blocks []extract.Block, err error) {
	if !e.r.once(part) {
		return nil, nil
	}
	err = e.r.pkg.Read(e.r.ctx, part, func(d *ooxml.Decoder) error {
		blocks, err = chart.Read(d, like, e.r.spendBytes)
		return err
	})
	return blocks, ooxml.Optional(err)
}

func (e *emission) diagram(part string) (blocks []extract.Block, err error) {
	if !e.r.once(part) {
		return nil, nil
	}
	err = e.r.pkg.Read(e.r.ctx, part, func(d *ooxml.Decoder) error {
		blocks, err = diagram.Read(d, e.r.spendBytes)
		return err
	})
	return blocks, ooxml.Optional(err)
}

// once reports whether a part was not read before: a small file may refer to a large part any number of times.
func (r *reader) once(part string) bool {
	before := r.read[part]
	r.read[part] = true
	return !before
}

// text returns the blocks of a shape's text. Slide numbers and dates are not content; a repeated footer is
// emitted once.
func (e *emission) text(s *shape) []extract.Block {
	switch s.kind() {
	case "sldNum", "dt", "hdr":
		return nil
	case "title", "ctrTitle":
		var lines []string
		for _, p := range s.text {
			lines = append(lines, strings.Fields(p.text)...)
		}
		title := strings.Join(lines, " ")
		if e.r.page == 1 && e.r.title == "" {
			e.r.title = title
		}
		heading := extract.Block{Kind: extract.Heading, Level: 1, Text: title}
		if text, links := extract.Trim(s.text[0].text, s.text[0].links); text == title {
			heading.Links = links
		}
		return []extract.Block{heading}
	case "ftr":
		var all strings.Builder
		for _, p := range s.text {
			all.WriteString(p.text + "\n")
		}
		if e.r.footers[all.String()] {
			return nil
		}
		e.r.footers[all.String()] = true
	}
	return blocksOf(s, e.look)
}
