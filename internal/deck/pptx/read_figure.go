package pptx

import (
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func tooMany() error {
	return taskerr.Errorf(taskerr.QuotaExceeded, "the presentation has more than %d elements: it is not read", deck.MaxElements)
}

func (s *sheet) address(to ooxml.Relation) string {
	if number := s.slides[to.Target]; number > 0 && to.Type == "slide" {
		return fmt.Sprintf("#slide%d", number)
	}
	return extract.Target(to.Target)
}

// figure returns what a shape draws; nil: nothing but text. A picture in place of its fill is an element of its own.
func (s *sheet) figure(n, properties *node, pictured bool) *deck.Shape {
	f := &deck.Shape{Geometry: "rect"}
	if g := properties.at("prstGeom").attr("prst"); g != "" {
		f.Geometry = clip(g, 40)
	}
	if custom := properties.kid("custGeom"); custom != nil {
		f.Geometry, f.Paths = "custom", paths(custom)
		if len(f.Paths) == 0 {
			f.Geometry = "rect"
			s.warn("free-form figures whose points are formulas are kept as rectangles")
		}
	}
	style := n.kid("style")
	var none bool
	if f.Fill, none = s.look.filling(properties, &s.deck.Theme); f.Fill == "" && !none && !pictured {
		if ref := style.kid("fillRef"); ref.num("idx", 0) > 0 {
			f.Fill = s.look.color(ref, &s.deck.Theme)
		}
	}
	if alpha := properties.kid("solidFill").find("alpha"); alpha != nil {
		f.Opacity = clamp(float64(alpha.num("val", 100000)) / 100000)
	}
	s.outline(f, properties.kid("ln"), style)
	if n.name() == "cxnSp" || strings.Contains(strings.ToLower(f.Geometry), "line") || strings.Contains(f.Geometry, "Connector") {
		if f.Line == "" {
			f.Line = "dark1"
		}
		f.Fill = ""
	}
	if f.Fill == "" && f.Line == "" {
		return nil
	}
	return f
}

func (s *sheet) outline(f *deck.Shape, line, style *node) {
	color, none := s.look.filling(line, &s.deck.Theme)
	if f.Line = color; color == "" && !none {
		if ref := style.kid("lnRef"); ref.num("idx", 0) > 0 {
			f.Line = s.look.color(ref, &s.deck.Theme)
		}
	}
	if f.Line == "" {
		return
	}
	if w := line.num("w", 0); w > 0 && w <= 20116800 {
		f.LineWidth = w
	}
	f.HeadEnd, f.TailEnd = end(line.kid("headEnd")), end(line.kid("tailEnd"))
}

func end(n *node) string {
	if kind := n.attr("type"); kind != "none" {
		return clip(kind, 20)
	}
	return ""
}

// paths are the lines of an a:custGeom whose points are numbers.
func paths(n *node) []deck.Path {
	var out []deck.Path
	for _, p := range n.kid("pathLst").all("path") {
		var commands []string
		for _, k := range p.kids {
			letter := map[string]string{"moveTo": "M", "lnTo": "L", "cubicBezTo": "C", "close": "Z"}[k.name()]
			points := k.all("pt")
			if want := map[string]int{"M": 1, "L": 1, "C": 3, "Z": 0}[letter]; letter == "" || len(points) != want {
				return nil
			}
			commands = append(commands, letter)
			for _, pt := range points {
				const formula = -1 << 41
				x, y := pt.num("x", formula), pt.num("y", formula)
				if x == formula || y == formula {
					return nil
				}
				commands = append(commands, fmt.Sprint(x), fmt.Sprint(y))
			}
		}
		if len(commands) > 0 {
			out = append(out, deck.Path{
				Width: p.num("w", 0), Height: p.num("h", 0), Commands: strings.Join(commands, " "), NoFill: p.attr("fill") == "none",
			})
		}
	}
	return out
}
