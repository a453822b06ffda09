package pdf

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
)

// tag marks what is drawn next as content of an element of the structure tree; nil: as decoration, which screen readers
// leave out. Marked content doesn't nest: what was marked before ends.
func (w *writer) tag(e *tagged.Element) {
	if w.marked && w.tagged == e {
		return
	}
	w.untag()
	w.marked, w.tagged = true, e
	if e == nil {
		w.pdf.RawWriteStr("/Artifact BMC")
		return
	}
	w.pdf.RawWriteStr(fmt.Sprintf("/%s <</MCID %d>> BDC", e.Type, w.doc.Mark(e)))
}

// untag ends what is marked. Around transformations and clips it has to, so that their ends are in order.
func (w *writer) untag() {
	if w.marked {
		w.pdf.RawWriteStr("EMC")
	}
	w.marked, w.tagged = false, nil
}

// heading is the type of a slide's title, as the bookmarks have it.
func (w *writer) heading(s *deck.Slide) string { return fmt.Sprintf("H%d", w.level(s)+1) }

// group is where an element goes into the tree: under a link if all of it is one. Footers, dates and numbers are
// decoration: nil.
func (w *writer) group(parent *tagged.Element, e *deck.Element) *tagged.Element {
	if parent == nil {
		return nil
	}
	switch e.Role {
	case deck.FooterRole, deck.DateRole, deck.NumberRole:
		return nil
	case deck.TitleRole, deck.SubtitleRole, deck.BodyRole:
	}
	return parent.Add(&tagged.Element{})
}

// drawn is the element for a picture, a chart or a figure in an area; nil in decoration.
func (w *writer) drawn(parent *tagged.Element, alt string, at area) *tagged.Element {
	if parent == nil {
		return nil
	}
	b := w.bounds(at)
	return parent.Add(&tagged.Element{Type: "Figure", Alt: alt, Box: b})
}

// chartAlt is the description of a chart that has none of its own: its title and the names of what it shows.
func chartAlt(e *deck.Element) string {
	if e.Alt != "" {
		return e.Alt
	}
	var names []string
	for _, s := range e.Chart.Series {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	alt := e.Chart.Title
	if alt != "" && len(names) > 0 {
		alt += ": "
	}
	return alt + strings.Join(names, ", ")
}

// bounds is where an area is on the page as it is turned now: left, bottom, right, top.
func (w *writer) bounds(at area) [4]float64 {
	height := points(w.deck.Size.Height)
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, corner := range [][2]float64{{at.x, at.y}, {at.x + at.w, at.y}, {at.x, at.y + at.h}, {at.x + at.w, at.y + at.h}} {
		x, y := w.turn.of(corner[0], corner[1])
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	return [4]float64{left, height - bottom, right, height - top}
}

// turn is a rotation around a point, clockwise in radians.
type turn struct{ angle, x, y float64 }

// of is where a point gets to.
func (t turn) of(x, y float64) (float64, float64) {
	if t.angle == 0 {
		return x, y
	}
	sin, cos := math.Sincos(t.angle)
	return t.x + (x-t.x)*cos - (y-t.y)*sin, t.y + (x-t.x)*sin + (y-t.y)*cos
}

// flow puts the paragraphs of a text into the tree as they are drawn.
type flow struct {
	parent *tagged.Element // nil: decoration
	single bool            // all of it is content of parent, as of a heading
	at     int             // the paragraph that leaf is of; -1: none
	leaf   *tagged.Element
	runs   map[int]*tagged.Element // of the paragraph, where they have elements of their own
	lists  []level                 // that are open, the outermost first
	label  *tagged.Element
}

// level is an open list: its element, that of the item's text, and its level.
type level struct {
	list, body *tagged.Element
	level      int
}

func newFlow(parent *tagged.Element, single bool) *flow {
	return &flow{parent: parent, single: single, at: -1}
}

// begin enters a paragraph. marked: it is an item of a list.
func (f *flow) begin(n int, p *deck.Paragraph, marked bool) {
	if f.parent == nil || f.at == n {
		return
	}
	f.at, f.runs, f.label = n, map[int]*tagged.Element{}, nil
	switch {
	case f.single:
		f.leaf = f.parent
	case marked:
		f.item(p.Level)
	case len(f.lists) > 0 && p.Level > f.lists[len(f.lists)-1].level: // it belongs to the item above
		f.leaf = f.lists[len(f.lists)-1].body.Add(&tagged.Element{Type: "P"})
	default:
		f.lists = nil
		f.leaf = f.parent.Add(&tagged.Element{Type: "P"})
	}
}

// item begins an item of a list. A deeper one is in a list within the item above.
func (f *flow) item(deep int) {
	for len(f.lists) > 0 && f.lists[len(f.lists)-1].level > deep {
		f.lists = f.lists[:len(f.lists)-1]
	}
	n := len(f.lists)
	if n == 0 || f.lists[n-1].level < deep {
		parent := f.parent
		if n > 0 {
			parent = f.lists[n-1].body
		}
		f.lists = append(f.lists, level{list: parent.Add(&tagged.Element{Type: "L"}), level: deep})
		n++
	}
	item := f.lists[n-1].list.Add(&tagged.Element{Type: "LI"})
	f.label = item.Add(&tagged.Element{Type: "Lbl"})
	f.leaf = item.Add(&tagged.Element{Type: "LBody"})
	f.lists[n-1].body = f.leaf
}

// run is the element of a run of the paragraph: the paragraph's, or one of its own for a link, another language, or
// letters that are drawn otherwise than they are written.
func (f *flow) run(n int, r *deck.Run, language, actual string) *tagged.Element {
	if f.parent == nil {
		return nil
	}
	if known := f.runs[n]; known != nil {
		return known
	}
	own := &tagged.Element{Actual: actual}
	if r.Language != language {
		own.Lang = r.Language
	}
	switch {
	case r.Link != "":
		own.Type = "Link"
	case own.Actual != "" || own.Lang != "":
		own.Type = "Span"
	default:
		f.runs[n] = f.leaf
		return f.leaf
	}
	f.runs[n] = f.leaf.Add(own)
	return own
}
