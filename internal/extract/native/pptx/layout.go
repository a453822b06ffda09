package pptx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxLayouts = 64  // kept layouts
	maxHolders = 500 // placeholders of one layout
)

// layout is what a slide inherits from a layout, and a layout from its master.
type layout struct {
	holders []layoutHolder
	body    listStyle // p:bodyStyle of a master
	title   listStyle // p:titleStyle
	master  *layout
}

// layoutHolder is a placeholder of a layout.
type layoutHolder struct {
	placeholder
	area   area
	placed bool
	styles listStyle
}

// layout reads a layout or a master. above is the relation to the part that it inherits from, or "". A missing
// part yields an empty layout.
func (r *reader) layout(part, above string) (*layout, error) {
	if known := r.layouts[part]; known != nil {
		return known, nil
	}
	look := &layout{}
	if part == "" {
		return look, nil
	}
	r.items, r.quiet = 0, true
	shapes, err := r.tree(part)
	r.quiet = false
	if err := ooxml.Optional(err); err != nil {
		return nil, err
	}
	for _, s := range shapes {
		if s.placeholder != nil && len(look.holders) < maxHolders {
			look.holders = append(look.holders, layoutHolder{*s.placeholder, s.area, s.placed, s.styles})
		}
	}
	if above != "" {
		relations, err := r.pkg.Relations(r.ctx, part)
		if err != nil {
			return nil, err
		}
		if look.master, err = r.layout(ooxml.OfType(relations, above), ""); err != nil {
			return nil, err
		}
	} else if err := ooxml.Optional(r.pkg.Read(r.ctx, part,
		func(d *ooxml.Decoder) error { return r.masterStyles(d, look) })); err != nil {
		return nil, err
	}
	if len(r.layouts) >= maxLayouts {
		clear(r.layouts)
	}
	r.layouts[part] = look
	return look, nil
}

func (r *reader) masterStyles(d *ooxml.Decoder, look *layout) error {
	r.d = d
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "bodyStyle":
			return r.listStyle(&look.body)
		case "titleStyle":
			return r.listStyle(&look.title)
		}
		return nil
	})
}

// find returns the placeholder that h fills: by index, or else by kind.
func (l *layout) find(h *placeholder) *layoutHolder {
	for i := range l.holders {
		if l.holders[i].index == h.index && broad(l.holders[i].kind) == broad(h.kind) {
			return &l.holders[i]
		}
	}
	for i := range l.holders {
		if broad(l.holders[i].kind) == broad(h.kind) && (l.master == nil || broad(h.kind) != "body") {
			return &l.holders[i]
		}
	}
	return nil
}

// broad returns the kind of the master placeholder that a kind inherits from.
func broad(kind string) string {
	switch kind {
	case "title", "ctrTitle":
		return "title"
	case "dt", "ftr", "sldNum", "hdr", "sldImg":
		return kind
	}
	return "body"
}

// area returns the placeholder's position from the layout or its master.
func (l *layout) area(h *placeholder) (area, bool) {
	for ; l != nil; l = l.master {
		if f := l.find(h); f != nil && f.placed {
			return f.area, true
		}
	}
	return area{}, false
}

// bullet returns the bullet that a paragraph of the placeholder inherits.
func (l *layout) bullet(h *placeholder, level int) bullet {
	for ; l != nil; l = l.master {
		if f := l.find(h); f != nil && f.styles[level].kind != inherited {
			return f.styles[level]
		}
		if l.master != nil {
			continue
		}
		switch broad(h.kind) {
		case "body":
			return l.body[level]
		case "title":
			return l.title[level]
		}
	}
	return bullet{}
}
