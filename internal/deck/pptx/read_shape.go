package pptx

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// frame maps coordinates of a group to the slide.
type frame struct{ x, y, scaleX, scaleY float64 }

var identity = frame{scaleX: 1, scaleY: 1}

// sheet is a slide, a layout or a master being read.
type sheet struct {
	*reader
	relations  map[string]ooxml.Relation
	look       *layout
	decoration bool // placeholders are holders, and not elements
	holders    []holder
	elements   []deck.Element
	deckSlide  deck.Slide
}

// tree reads the shapes of a p:spTree or p:grpSp, which are elements in the order in which they are drawn.
func (s *sheet) tree(n *node, f frame) error {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		var err error
		switch k.name() {
		case "sp", "cxnSp":
			err = s.shape(k, f)
		case "pic":
			err = s.picture(k, f)
		case "graphicFrame":
			err = s.graphic(k, f)
		case "contentPart":
			s.warn("handwriting without a picture is not kept")
		case "grpSp":
			if k.at("grpSpPr", "blipFill") != nil {
				s.warn("pictures that fill groups are not kept")
			}
			err = s.tree(k, f.within(k.at("grpSpPr", "xfrm")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// within is the frame of a group's children.
func (f frame) within(n *node) frame {
	off, ext, childOff, childExt := n.kid("off"), n.kid("ext"), n.kid("chOff"), n.kid("chExt")
	w, h := float64(childExt.num("cx", 0)), float64(childExt.num("cy", 0))
	if w <= 0 || h <= 0 {
		return f
	}
	sx, sy := float64(ext.num("cx", 0))/w, float64(ext.num("cy", 0))/h
	return frame{
		x:      f.x + f.scaleX*(float64(off.num("x", 0))-float64(childOff.num("x", 0))*sx),
		y:      f.y + f.scaleY*(float64(off.num("y", 0))-float64(childOff.num("y", 0))*sy),
		scaleX: f.scaleX * sx, scaleY: f.scaleY * sy,
	}
}

// box is the place that an a:xfrm or p:xfrm says, or nil.
func (f frame) box(n *node) *deck.Box {
	off, ext := n.kid("off"), n.kid("ext")
	if off == nil || ext == nil {
		return nil
	}
	b := &deck.Box{
		X: round(f.x + f.scaleX*float64(off.num("x", 0))), Y: round(f.y + f.scaleY*float64(off.num("y", 0))),
		W: max(round(f.scaleX*float64(ext.num("cx", 0))), 0), H: max(round(f.scaleY*float64(ext.num("cy", 0))), 0),
		FlipH: n.on("flipH", false), FlipV: n.on("flipV", false),
	}
	b.Rotation = math.Mod(float64(n.num("rot", 0))/60000, 360)
	return b
}

func round(v float64) int64 {
	const most = 51206400 * 16
	return int64(math.Round(min(max(v, -most), most)))
}

// about fills what all elements have: name, alternative text, link.
func (s *sheet) about(e *deck.Element, n *node) {
	n = n.find("cNvPr")
	e.Name = clip(n.attr("name"), maxName)
	e.Alt = clip(n.attr("descr"), 4000)
	e.Link = s.target(n.kid("hlinkClick").rel("id"))
	e.Z = len(s.elements) + 1
}

// add adds an element, unless the file hides it.
func (s *sheet) add(e deck.Element, n *node) error {
	if n.find("cNvPr").on("hidden", false) {
		return nil
	}
	if len(s.elements) >= deck.MaxElements {
		return tooMany()
	}
	if e.Text != nil {
		if err := s.spend(e.Text.Plain()); err != nil {
			return err
		}
	}
	s.elements = append(s.elements, e)
	return nil
}

// shape reads a p:sp or p:cxnSp: text in a placeholder or a box, or a figure.
func (s *sheet) shape(n *node, f frame) error {
	properties, body := n.kid("spPr"), n.kid("txBody")
	e := deck.Element{Kind: deck.TextElement, Box: f.box(properties.kid("xfrm"))}
	if ph := n.at("nvSpPr", "nvPr", "ph"); ph != nil {
		return s.placeholder(n, ph, e)
	}
	pictured, err := s.filled(&e, n)
	if err != nil {
		return err
	}
	figure := s.figure(n, properties, pictured)
	if e.Text = s.body(body, "", 0, false); e.Text != nil && len(e.Text.Styles) == 0 {
		e.Text.Styles = s.boxStyles(n, body)
	}
	if figure == nil {
		if e.Text == nil {
			return nil // an empty text box
		}
		return s.add(e, n)
	}
	e.Kind, e.Shape = deck.ShapeElement, figure
	if e.Text != nil && e.Text.Anchor == "" && body.kid("bodyPr").attr("anchor") == "" {
		e.Text.Anchor = deck.AnchorTop
	}
	return s.add(e, n)
}

// placeholder reads a p:sp that fills a placeholder, or is one of a layout.
func (s *sheet) placeholder(n, ph *node, e deck.Element) error {
	kind, index := ph.attr("type"), int(min(ph.num("idx", 0), math.MaxUint32))
	if s.decoration {
		if n.at("spPr", "blipFill") != nil {
			s.warn("pictures that fill placeholders of layouts are not kept")
		}
		s.holders = append(s.holders, holder{kind: kind, index: index, box: e.Box, body: n.kid("txBody")})
		return nil
	}
	if inherited := s.look.box(kind, index); e.Box == nil {
		e.Box = inherited
	}
	if _, err := s.filled(&e, n); err != nil {
		return err
	}
	e.Role, e.Index = roleOf(kind), index
	if h := s.look.own(kind, index, true); h != nil && kind == "" {
		e.Role = roleOf(h.kind)
	}
	if e.Text = s.body(n.kid("txBody"), kind, index, true); e.Text == nil {
		return nil // nobody sees an empty placeholder
	}
	if color, _ := s.look.filling(n.kid("spPr"), &s.deck.Theme); color != "" && e.Role == deck.BodyRole {
		e.Kind, e.Shape = deck.ShapeElement, &deck.Shape{Geometry: "rect", Fill: color}
	}
	return s.add(e, n)
}

// background is the colour of a p:bg, or "".
func (s *sheet) background(root *node) string {
	bg := root.at("cSld", "bg")
	if bg == nil {
		return ""
	}
	if ref := bg.kid("bgRef"); ref != nil {
		return s.look.color(ref, &s.deck.Theme)
	}
	properties := bg.kid("bgPr")
	if properties.kid("blipFill") != nil {
		s.warn("pictures behind slides are not kept")
	}
	color, _ := s.look.filling(properties, &s.deck.Theme)
	return color
}

// target is the target of a link: an address, or "#slide" and its number; "" for one that is not kept.
func (s *sheet) target(id string) string {
	if id == "" {
		return ""
	}
	to := s.relations[id]
	return s.address(to)
}
