package pptx

import (
	"encoding/xml"
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// shape is an object on the slide being read.
type shape struct {
	placeholder *placeholder // nil: not a placeholder
	area        area
	placed      bool // it has a position
	hidden      bool
	text        []paragraph
	styles      listStyle // of its own text
	table       []extract.Block
	chart       string // relation id
	diagram     string // relation id
	children    []*shape
}

// placeholder is a p:ph (19.3.1.36): the layout's placeholder that the shape fills.
type placeholder struct {
	kind  string // ST_PlaceholderType: "title", "body", …; the default is "obj"
	index string
}

// area is a position on the slide in EMU.
type area struct{ left, top, width, height float64 }

// frame maps coordinates within a group to those of the slide.
type frame struct{ x, y, scaleX, scaleY float64 }

func (f frame) apply(a area) area {
	return area{f.x + a.left*f.scaleX, f.y + a.top*f.scaleY, a.width * f.scaleX, a.height * f.scaleY}
}

// kind returns the type of the placeholder, or "" if the shape is not one.
func (s *shape) kind() string {
	if s.placeholder == nil {
		return ""
	}
	return s.placeholder.kind
}

func (s *shape) isTitle() bool { return s.kind() == "title" || s.kind() == "ctrTitle" }

// box returns the shape's position in fractions of the slide, or nil if it is unknown or outside.
func (r *reader) box(s *shape) *extract.Box {
	if !s.placed || r.width <= 0 || r.height <= 0 {
		return nil
	}
	part := func(x, whole float64) float64 { return math.Min(math.Max(x/whole, 0), 1) }
	a := s.area
	b := &extract.Box{
		Left: part(a.left, r.width), Top: part(a.top, r.height),
		Right: part(a.left+a.width, r.width), Bottom: part(a.top+a.height, r.height),
	}
	if !(b.Left < b.Right && b.Top < b.Bottom) { // also true of NaN
		return nil
	}
	return b
}

func (r *reader) shape(s *shape, start xml.StartElement, f frame) error {
	if err := r.item(); err != nil {
		return err
	}
	if start.Name.Local == "grpSp" {
		return r.group(s, f)
	}
	return r.d.Children(func(start xml.StartElement) (err error) {
		switch start.Name.Local {
		case "nvSpPr", "nvGraphicFramePr", "nvCxnSpPr":
			return r.naming(s)
		case "spPr":
			_, s.area, err = r.transform(f, false)
			s.placed = s.area != area{}
		case "xfrm": // of a p:graphicFrame
			s.area, _, err = r.xfrm()
			s.area, s.placed = f.apply(s.area), s.area != area{}
		case "txBody":
			return r.body(s)
		case "graphic":
			return r.graphic(s)
		default:
			return r.d.Skip()
		}
		return err
	}, nil)
}

// group reads a p:grpSp or a p:spTree into s, without hidden shapes, pictures and ink. The group's properties,
// with its position, precede its children.
func (r *reader) group(s *shape, f frame) error {
	inner := f
	var read func() error
	read = func() error {
		return r.d.Children(func(start xml.StartElement) (err error) {
			switch start.Name.Local {
			case "nvGrpSpPr":
				return r.naming(s)
			case "grpSpPr":
				inner, s.area, err = r.transform(f, true)
				s.placed = s.area != area{}
				return err
			case "sp", "grpSp", "graphicFrame", "cxnSp":
				child := &shape{}
				err := r.shape(child, start, inner)
				if !child.hidden {
					s.children = append(s.children, child)
				}
				return err
			case "AlternateContent":
				return r.d.Choice(read)
			}
			return r.d.Skip()
		}, nil)
	}
	return read()
}

// naming reads a shape's name and the placeholder that it fills.
func (r *reader) naming(s *shape) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "cNvPr":
			s.hidden = ooxml.On(ooxml.Attr(start, "hidden"), false)
		case "nvPr":
			return r.naming(s)
		case "ph":
			h := &placeholder{kind: ooxml.Attr(start, "type"), index: ooxml.Attr(start, "idx")}
			if h.kind == "" {
				h.kind = "obj"
			}
			if h.index == "" {
				h.index = "0"
			}
			s.placeholder = h
		}
		return r.d.Skip()
	}, nil)
}

// transform reads properties with an a:xfrm: the shape's position on the slide and, for a group, the frame of
// its children.
func (r *reader) transform(f frame, group bool) (inner frame, at area, err error) {
	inner = f
	err = r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "xfrm" {
			return r.d.Skip()
		}
		own, child, err := r.xfrm()
		at = f.apply(own)
		if group && child.width > 0 && child.height > 0 {
			sx, sy := own.width/child.width, own.height/child.height
			inner = frame{
				x: f.x + f.scaleX*(own.left-child.left*sx), y: f.y + f.scaleY*(own.top-child.top*sy),
				scaleX: f.scaleX * sx, scaleY: f.scaleY * sy,
			}
		}
		return err
	}, nil)
	return inner, at, err
}

// xfrm reads an a:xfrm: the area of the shape and, for a group, that of its children in their own coordinates.
func (r *reader) xfrm() (own, child area, err error) {
	number := func(start xml.StartElement, name string) float64 {
		return float64(ooxml.Int(ooxml.Attr(start, name), 0))
	}
	err = r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "off":
			own.left, own.top = number(start, "x"), number(start, "y")
		case "ext":
			own.width, own.height = number(start, "cx"), number(start, "cy")
		case "chOff":
			child.left, child.top = number(start, "x"), number(start, "y")
		case "chExt":
			child.width, child.height = number(start, "cx"), number(start, "cy")
		}
		return r.d.Skip()
	}, nil)
	return own, child, err
}

// graphic reads an a:graphic: a table, a chart or a diagram.
func (r *reader) graphic(s *shape) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "graphicData":
			return r.graphic(s)
		case "tbl":
			return r.table(s)
		case "chart":
			s.chart = ooxml.RelationID(start, "id")
		case "relIds":
			s.diagram = ooxml.RelationID(start, "dm")
		case "AlternateContent":
			return r.d.Choice(func() error { return r.graphic(s) })
		}
		return r.d.Skip()
	}, nil)
}

// body reads a p:txBody.
func (r *reader) body(s *shape) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "lstStyle":
			return r.listStyle(&s.styles)
		case "p":
			p, err := r.paragraph()
			if strings.TrimSpace(p.text) != "" {
				s.text = append(s.text, p)
			}
			return err
		}
		return r.d.Skip()
	}, nil)
}
