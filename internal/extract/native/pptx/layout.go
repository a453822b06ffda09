package pptx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxLayouts = 64  // that are kept
	maxHolders = 500 // placeholders of one layout
)

// layout is what slides inherit of a layout, and a layout of its master.
type layout struct {
	holders []filling
	body    listStyle // p:bodyStyle of a master
	title   listStyle // p:titleStyle
	master  *layout
}

// filling is a placeholder of a layout.
type filling struct {
	holder
	area   area
	placed bool
	styles listStyle
}

// layout reads a layout or a master; above is the relation to the part that it inherits from, "" for
// none. A part that is missing gives an empty layout.
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
		if s.holder != nil && len(look.holders) < maxHolders {
			look.holders = append(look.holders, filling{*s.holder, s.area, s.placed, s.styles})
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

// find returns the placeholder that h fills: the one of its index, else of its kind.
func (l *layout) find(h *holder) *filling {
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

// broad is the kind of a master's placeholder that those of a kind inherit from.
func broad(kind string) string {
	switch kind {
	case "title", "ctrTitle":
		return "title"
	case "dt", "ftr", "sldNum", "hdr", "sldImg":
		return kind
	}
	return "body"
}

// area is where the placeholder stands: as the layout says, else its master.
func (l *layout) area(h *holder) (area, bool) {
	for ; l != nil; l = l.master {
		if f := l.find(h); f != nil && f.placed {
			return f.area, true
		}
	}
	return area{}, false
}

// bullet is what a paragraph of the placeholder inherits.
func (l *layout) bullet(h *holder, level int) bullet {
	for ; l != nil; l = l.master {
		if f := l.find(h); f != nil && f.styles[level].kind != unsaid {
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
