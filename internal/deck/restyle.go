package deck

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Restyle puts a deck into the look of another: its size, theme and layouts. Slides get the layout of the same name, or
// else kind; what fills a placeholder goes to its place there, and what has a place of its own moves with the area that
// a layout leaves for content. d is not changed.
func Restyle(d, look *Deck) *Deck {
	out := *d
	out.Size, out.Theme, out.Layouts = look.Size, look.Theme, look.Layouts
	out.Media = maps.Clone(d.Media)
	if out.Media == nil {
		out.Media = map[string]Media{}
	}
	maps.Copy(out.Media, look.Media)
	out.Slides = make([]Slide, len(d.Slides))
	for i := range d.Slides {
		s := d.Slides[i]
		from := d.Layout(s.Layout)
		to := suited(look.Layouts, from)
		m := mapping{from: d.area(from), to: look.area(to), source: from, target: to}
		s.Layout, s.Background = to.ID, ""
		s.Elements = make([]Element, len(d.Slides[i].Elements))
		for k := range s.Elements {
			s.Elements[k] = m.element(d.Slides[i].Elements[k])
		}
		out.Slides[i] = s
	}
	return &out
}

// instead are the kinds of layouts that a kind is replaced by, in order.
var instead = map[LayoutKind][]LayoutKind{
	TitleLayout: {SectionLayout, TitleOnlyLayout}, SectionLayout: {TitleLayout, TitleOnlyLayout},
	ContentLayout: {TwoLayout, OtherLayout}, TwoLayout: {ContentLayout}, TitleOnlyLayout: {ContentLayout},
	BlankLayout: {TitleOnlyLayout}, OtherLayout: {ContentLayout, TitleOnlyLayout},
}

// suited is the layout that replaces another, which may be nil.
func suited(all []Layout, l *Layout) *Layout {
	kind := ContentLayout
	if l != nil {
		kind = l.Kind
		if i := slices.IndexFunc(all, func(o Layout) bool {
			return l.Name != "" && strings.EqualFold(o.Name, l.Name)
		}); i >= 0 {
			return &all[i]
		}
	}
	for _, k := range append([]LayoutKind{kind}, instead[kind]...) {
		if i := slices.IndexFunc(all, func(o Layout) bool { return o.Kind == k }); i >= 0 {
			return &all[i]
		}
	}
	return &all[0]
}

// area is what a layout leaves for content: its bodies, or those of the deck's content layout.
func (d *Deck) area(l *Layout) Box {
	for _, of := range []*Layout{l, d.Layout(string(ContentLayout))} {
		if of == nil {
			continue
		}
		var area *Box
		for _, p := range of.Placeholders {
			if p.Role == BodyRole && p.Box != nil {
				area = union(area, *p.Box)
			}
		}
		if area != nil && area.W > 0 && area.H > 0 {
			return *area
		}
	}
	return Box{X: d.Size.Width / 20, Y: d.Size.Height / 5, W: d.Size.Width * 9 / 10, H: d.Size.Height * 7 / 10}
}

func union(a *Box, b Box) *Box {
	if a == nil {
		return &b
	}
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return &Box{X: x, Y: y, W: max(a.Right(), b.Right()) - x, H: max(a.Bottom(), b.Bottom()) - y}
}

// mapping moves elements from one layout to another.
type mapping struct {
	from, to       Box
	source, target *Layout
}

func (m mapping) element(e Element) Element {
	text := e.Text
	if p := m.source.Placeholder(e.Role, e.Index); p != nil {
		if to := m.counterpart(p); to != nil {
			if text != nil {
				copied := *text
				copied.Styles, copied.Scale = nil, 0
				copied.Paragraphs = directed(text.Paragraphs, func(level int) Style { return m.source.Style(&e, level) }, to.Styles)
				e.Text = &copied
			}
			e.Index = to.Index
			if e.Box == nil || p.Box != nil && *plainBox(e.Box) == *plainBox(p.Box) {
				e.Box = nil
				return e
			}
			e.Box = m.box(*e.Box)
			return e
		}
		if e.Box == nil {
			e.Box = p.Box
		}
		if text != nil && len(text.Styles) == 0 {
			copied := *text
			copied.Styles = p.Styles
			e.Text = &copied
		}
		e.Role = ""
	}
	if e.Box == nil {
		return e
	}
	to := m.box(*e.Box)
	if e.Table != nil && e.Box.W > 0 {
		e.Table = e.Table.scaled(float64(to.W) / float64(e.Box.W))
	}
	e.Box = to
	return e
}

// directed are paragraphs that keep their direction in other styles: it is the text's, and not the look's. What was
// aligned to the right as it begins there stays so.
func directed(paragraphs []Paragraph, from func(level int) Style, to []Style) []Paragraph {
	out := slices.Clone(paragraphs)
	for i := range out {
		p := &out[i]
		before, after := from(p.Level), StyleAt(to, p.Level)
		if !p.RightToLeft(before) || after.RTL {
			continue
		}
		p.RTL = new(true)
		if p.Align == "" && before.Align != AlignLeft && after.Align == AlignLeft {
			p.Align = AlignRight
		}
	}
	return out
}

// plainBox is a box without what can't be compared.
func plainBox(b *Box) *struct{ x, y, w, h int64 } {
	return &struct{ x, y, w, h int64 }{b.X, b.Y, b.W, b.H}
}

// counterpart is the placeholder of the target for one of the source: of bodies the one in the same order.
func (m mapping) counterpart(p *Placeholder) *Placeholder {
	nth := 0
	for i := range m.source.Placeholders {
		o := &m.source.Placeholders[i]
		if o == p {
			break
		}
		if o.Role == p.Role {
			nth++
		}
	}
	roles := []Role{p.Role}
	if p.Role == SubtitleRole {
		roles = append(roles, BodyRole)
	} else if p.Role == BodyRole && m.source.Kind == SectionLayout {
		roles = append(roles, SubtitleRole)
	}
	for _, role := range roles {
		k := nth
		for i := range m.target.Placeholders {
			if o := &m.target.Placeholders[i]; o.Role == role && o.Box != nil {
				if k == 0 {
					return o
				}
				k--
			}
		}
	}
	return nil
}

func (m mapping) box(b Box) *Box {
	sx, sy := float64(m.to.W)/float64(m.from.W), float64(m.to.H)/float64(m.from.H)
	b.X = m.to.X + scaled(b.X-m.from.X, sx)
	b.Y = m.to.Y + scaled(b.Y-m.from.Y, sy)
	b.W, b.H = scaled(b.W, sx), scaled(b.H, sy)
	return &b
}

func scaled(n int64, by float64) int64 { return int64(math.Round(float64(n) * by)) }

// scaled is the table with columns of other widths.
func (t *Table) scaled(by float64) *Table {
	out := *t
	out.Columns = make([]int64, len(t.Columns))
	for i, w := range t.Columns {
		out.Columns[i] = scaled(w, by)
	}
	return &out
}
