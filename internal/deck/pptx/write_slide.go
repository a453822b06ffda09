package pptx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// drawing writes the shapes of a slide or a layout.
type drawing struct {
	*writer
	m         *markup
	layout    *deck.Layout
	slide     bool
	next      int // the next shape's id
	relations []relation
	links     map[string]string // by target: the relation's id
	holders   map[string]bool   // that are filled already: type and index
}

// beginTree begins a p:spTree, whose own group has the id 1.
func (w *writer) beginTree(m *markup) {
	m.begin("p:spTree")
	m.WriteString(`<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" y="0"/>` +
		`<a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>`)
}

func (w *writer) background(m *markup, color string) {
	if color == "" {
		return
	}
	m.begin("p:bg")
	m.begin("p:bgPr")
	w.solid(m, color, 0)
	m.empty("a:effectLst")
	m.ends(2)
}

// solid writes a fill of a colour: of the theme by its name. opacity 0 is 1.
func (w *writer) solid(m *markup, color string, opacity float64) {
	m.begin("a:solidFill")
	w.color(m, color, opacity)
	m.end()
}

func (w *writer) color(m *markup, color string, opacity float64) {
	name, value := "a:srgbClr", strings.TrimPrefix(color, "#")
	if !strings.HasPrefix(color, "#") {
		name, value = "a:schemeClr", schemeNames[color]
	}
	if opacity <= 0 || opacity >= 1 {
		m.empty(name, "val", value)
		return
	}
	m.begin(name, "val", value)
	m.empty("a:alpha", "val", num(int(opacity*100000)))
	m.end()
}

// schemeNames are ST_SchemeColorVal by the deck's names.
var schemeNames = map[string]string{
	"dark1": "tx1", "light1": "bg1", "dark2": "tx2", "light2": "bg2", "accent1": "accent1", "accent2": "accent2",
	"accent3": "accent3", "accent4": "accent4", "accent5": "accent5", "accent6": "accent6", "link": "hlink",
	"followedLink": "folHlink",
}

// slide writes the n-th slide with its notes and charts.
func (w *writer) slide(n int) error {
	s := &w.deck.Slides[n-1]
	layout := w.deck.Layout(s.Layout)
	if layout == nil {
		layout = &w.deck.Layouts[0]
	}
	show := ""
	if s.Hidden {
		show = "0"
	}
	d := &drawing{
		writer: w, m: part("p:sld", "show", show), layout: layout, slide: true, next: 2, links: map[string]string{},
		holders: map[string]bool{}, relations: []relation{{id: "rId1", kind: "slideLayout", target: "/" + w.layouts[layout.ID]}},
	}
	d.m.begin("p:cSld")
	w.background(d.m, s.Background)
	w.beginTree(d.m)
	if s.Title != "" && s.TitleElement() == nil && layout.Placeholder(deck.TitleRole, 0) != nil {
		title := deck.Element{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines(s.Title)}
		if err := d.element(&title); err != nil {
			return err
		}
	}
	for _, e := range inZ(s.Elements) {
		if err := d.element(e); err != nil {
			return err
		}
	}
	d.m.ends(2)
	d.m.WriteString(`<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>`)
	d.m.end()
	if len(s.Comments) > 0 {
		w.warn("comments are not in the presentation")
	}
	if s.Notes != "" {
		d.relations = append(d.relations, relation{id: "rIdNotes", kind: "notesSlide", target: "/" + notesPart(n)})
		if err := w.notes(n, s.Notes); err != nil {
			return err
		}
	}
	if err := w.put(slidePart(n), d.m.Bytes()); err != nil {
		return err
	}
	return w.put(relationsPart(slidePart(n)), relations(d.relations))
}

// relate adds a relation, and returns its id.
func (d *drawing) relate(kind, target string, external bool) string {
	id := fmt.Sprintf("rId%d", len(d.relations)+1)
	d.relations = append(d.relations, relation{id: id, kind: kind, target: target, external: external})
	return id
}

// link writes a click on what is being written, if target is one.
func (d *drawing) link(target string) {
	if target == "" || !d.slide {
		return
	}
	place, inside := strings.CutPrefix(target, "#")
	if inside {
		number, err := strconv.Atoi(strings.TrimPrefix(place, "slide"))
		if err != nil || number < 1 || number > len(d.deck.Slides) {
			return // a place of the document that the deck does not have
		}
		target = "/" + slidePart(number)
	}
	id := d.links[target]
	if id == "" {
		if inside {
			id = d.relate("slide", target, false)
		} else {
			id = d.relate("hyperlink", target, true)
		}
		d.links[target] = id
	}
	action := ""
	if inside {
		action = "ppaction://hlinksldjump"
	}
	d.m.empty("a:hlinkClick", "r:id", id, "action", action)
}

// properties writes a p:cNvPr.
func (d *drawing) properties(e *deck.Element, kind string) {
	name := e.Name
	if name == "" {
		name = fmt.Sprintf("%s %d", kind, d.next-1)
	}
	d.m.begin("p:cNvPr", "id", num(d.next), "name", name, "descr", e.Alt)
	d.link(e.Link)
	d.m.end()
	d.next++
}

// element writes one element.
func (d *drawing) element(e *deck.Element) error {
	switch e.Kind {
	case deck.TableElement:
		return d.table(e)
	case deck.PictureElement:
		d.picture(e)
	case deck.ChartElement:
		return d.chart(e)
	case deck.TextElement, deck.ShapeElement:
		d.shape(e)
	}
	return nil
}
