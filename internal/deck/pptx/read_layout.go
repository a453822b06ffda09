package pptx

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// layout is what slides inherit from a layout, and a layout from its master.
type layout struct {
	id         string
	master     *master
	holders    []holder
	bare       bool // the master's decoration is not shown
	background string
	decoration []deck.Element
}

// holder is a placeholder of a layout or a master.
type holder struct {
	kind  string // ST_PlaceholderType; "" is obj
	index int
	box   *deck.Box
	body  *node // its p:txBody
}

// layout reads a layout with what it inherits, and adds it to the deck. A missing part yields an empty layout.
func (r *reader) layout(part string) (*layout, error) {
	if l := r.layouts[part]; l != nil {
		return l, nil
	}
	l := &layout{}
	r.layouts[part] = l
	root, err := parse(r.ctx, r.pkg, part)
	if err = ooxml.Optional(err); err != nil {
		return nil, err
	}
	relations, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return nil, err
	}
	if l.master, err = r.master(ooxml.OfType(relations, "slideMaster")); err != nil {
		return nil, err
	}
	l.bare = !root.on("showMasterSp", true)
	if err := r.fill(l, root, relations); err != nil {
		return nil, err
	}
	r.publish(l, root)
	return l, nil
}

// fill reads the placeholders and the decoration of a layout or a master.
func (r *reader) fill(l *layout, root *node, relations map[string]ooxml.Relation) error {
	s := &sheet{reader: r, relations: relations, look: l, decoration: true}
	l.background = s.background(root)
	if err := s.tree(root.at("cSld", "spTree"), identity); err != nil {
		return err
	}
	l.holders, l.decoration = s.holders, s.elements
	return nil
}

// kinds are the layouts' kinds by ST_SlideLayoutType (19.7.15).
var kinds = map[string]deck.LayoutKind{
	"title": deck.TitleLayout, "secHead": deck.SectionLayout, "obj": deck.ContentLayout, "tx": deck.ContentLayout,
	"twoObj": deck.TwoLayout, "twoTxTwoObj": deck.TwoLayout, "titleOnly": deck.TitleOnlyLayout, "blank": deck.BlankLayout,
}

// publish adds a layout to the deck.
func (r *reader) publish(l *layout, root *node) {
	out := deck.Layout{
		Name: clip(root.kid("cSld").attr("name"), maxName), Kind: kinds[root.attr("type")], Background: l.background,
		Elements: l.decoration,
	}
	if out.Kind == "" {
		out.Kind = deck.OtherLayout
	}
	if out.Background == "" {
		out.Background = l.master.background
	}
	if !l.bare {
		out.Elements = append(append([]deck.Element(nil), l.master.decoration...), out.Elements...)
	}
	l.id = string(out.Kind)
	if r.ids[l.id]++; r.ids[l.id] > 1 {
		l.id = fmt.Sprintf("%s-%d", out.Kind, r.ids[string(out.Kind)])
	}
	out.ID = l.id
	for _, h := range l.holders {
		role := roleOf(h.kind)
		if role == "" {
			continue
		}
		p := deck.Placeholder{Role: role, Index: h.index, Box: h.box, Styles: l.styles(h.kind, h.index, r.defaults, &r.deck.Theme)}
		if p.Box == nil {
			p.Box = l.box(h.kind, h.index)
		}
		p.Anchor = l.anchor(h.kind, h.index)
		out.Placeholders = append(out.Placeholders, p)
	}
	r.deck.Layouts = append(r.deck.Layouts, out)
}

// roleOf is the role of a kind of placeholder; "" for those that a deck has no role for.
func roleOf(kind string) deck.Role {
	switch kind {
	case "title", "ctrTitle":
		return deck.TitleRole
	case "subTitle":
		return deck.SubtitleRole
	case "ftr":
		return deck.FooterRole
	case "dt":
		return deck.DateRole
	case "sldNum":
		return deck.NumberRole
	case "hdr", "sldImg":
		return ""
	}
	return deck.BodyRole
}

// broad is the kind of the master's placeholder that a kind inherits from.
func broad(kind string) string {
	switch kind {
	case "title", "ctrTitle":
		return "title"
	case "dt", "ftr", "sldNum", "hdr", "sldImg":
		return kind
	}
	return "body"
}

// chain returns the placeholders that one of a slide inherits from: the layout's and the master's.
func (l *layout) chain(kind string, index int) []*holder {
	var out []*holder
	if h := l.own(kind, index, true); h != nil {
		out = append(out, h)
		kind = h.kind
	}
	if l.master != nil && &l.master.layout != l {
		if h := l.master.own(kind, index, false); h != nil {
			out = append(out, h)
		}
	}
	return out
}

func (l *layout) own(kind string, index int, exact bool) *holder {
	for i := range l.holders {
		if h := &l.holders[i]; h.index == index && broad(h.kind) == broad(kind) {
			return h
		}
	}
	for i := range l.holders {
		if h := &l.holders[i]; broad(h.kind) == broad(kind) && (!exact || broad(kind) != "body") {
			return h
		}
	}
	return nil
}

// box is the place that a placeholder inherits, or nil.
func (l *layout) box(kind string, index int) *deck.Box {
	for _, h := range l.chain(kind, index) {
		if h.box != nil {
			return h.box
		}
	}
	return nil
}

// anchor is where the text of a placeholder is, as it inherits it.
func (l *layout) anchor(kind string, index int) deck.Anchor {
	for _, h := range l.chain(kind, index) {
		if a := h.body.kid("bodyPr").attr("anchor"); a != "" {
			return anchors[a]
		}
	}
	return ""
}

var anchors = map[string]deck.Anchor{"ctr": deck.AnchorMiddle, "b": deck.AnchorBottom}

const levels = 9

// styles are the looks of a placeholder's levels, as it inherits them: from the master's text styles, the master's
// placeholder and the layout's. kind "" with no holder is that of a text box.
func (l *layout) styles(kind string, index int, defaults *node, theme *deck.Theme) []deck.Style {
	out := make([]deck.Style, levels)
	l.overlay(out, defaults, theme)
	if l.master != nil {
		name := "bodyStyle"
		switch broad(kind) {
		case "title":
			name = "titleStyle"
		case "dt", "ftr", "sldNum", "hdr":
			name = "otherStyle"
		}
		l.overlay(out, l.master.styles.kid(name), theme)
	}
	chain := l.chain(kind, index)
	for i := len(chain) - 1; i >= 0; i-- {
		l.overlay(out, chain[i].body.kid("lstStyle"), theme)
		// A placeholder's first paragraph says nothing of those that fill it.
	}
	return shorter(out)
}

// overlay applies a list of styles (CT_TextListStyle, 21.1.2.4.12).
func (l *layout) overlay(into []deck.Style, list *node, theme *deck.Theme) {
	if list == nil {
		return
	}
	if n := list.kid("defPPr"); n != nil {
		for i := range into {
			l.paragraphStyle(&into[i], n, theme)
		}
	}
	for i := range into {
		if n := list.kid(fmt.Sprintf("lvl%dpPr", i+1)); n != nil {
			l.paragraphStyle(&into[i], n, theme)
		}
	}
}

// shorter leaves out levels at the end that are as the one before.
func shorter(styles []deck.Style) []deck.Style {
	for n := len(styles); n > 1; n-- {
		if !sameStyle(styles[n-1], styles[n-2]) {
			return styles[:n]
		}
	}
	return styles[:1]
}

func sameStyle(a, b deck.Style) bool {
	listA, listB := deck.List{}, deck.List{}
	if a.List != nil {
		listA = *a.List
	}
	if b.List != nil {
		listB = *b.List
	}
	return listA.Kind == listB.Kind && listA.Char == listB.Char && listA.Scheme == listB.Scheme &&
		listA.Start == listB.Start && a.Size == b.Size && a.Color == b.Color && a.Font == b.Font && a.Bold == b.Bold &&
		a.Italic == b.Italic && a.Align == b.Align && a.RTL == b.RTL && a.Margin == b.Margin && a.Indent == b.Indent &&
		a.Before == b.Before && a.Line == b.Line
}
