package deck

import (
	"maps"
	"slices"
	"strings"
)

// Plain returns the text without its look: a line for each paragraph.
func (t *Text) Plain() string {
	if t == nil {
		return ""
	}
	lines := make([]string, len(t.Paragraphs))
	for i, p := range t.Paragraphs {
		lines[i] = p.Plain()
	}
	return strings.Join(lines, "\n")
}

// Plain returns the paragraph's text; line breaks are "\n".
func (p *Paragraph) Plain() string {
	if len(p.Runs) == 1 {
		return p.Runs[0].Text
	}
	var out strings.Builder
	for _, r := range p.Runs {
		out.WriteString(r.Text)
	}
	return out.String()
}

// Lines makes a text of plain lines, a paragraph each.
func Lines(lines ...string) *Text {
	t := &Text{}
	for _, line := range lines {
		t.Paragraphs = append(t.Paragraphs, Paragraph{Runs: []Run{{Text: line}}})
	}
	return t
}

// TitleElement returns the slide's title element, or nil.
func (s *Slide) TitleElement() *Element {
	for i := range s.Elements {
		if s.Elements[i].Role == TitleRole && s.Elements[i].Text != nil {
			return &s.Elements[i]
		}
	}
	return nil
}

// Placeholder returns the placeholder that an element fills, or nil.
func (l *Layout) Placeholder(role Role, index int) *Placeholder {
	if l == nil || role == "" {
		return nil
	}
	var first *Placeholder
	for i := range l.Placeholders {
		p := &l.Placeholders[i]
		if p.Role != role {
			continue
		}
		if p.Index == index {
			return p
		}
		if first == nil {
			first = p
		}
	}
	return first
}

// Place returns where an element is: its own box, or its placeholder's. nil: nowhere.
func (l *Layout) Place(e *Element) *Box {
	if e.Box != nil {
		return e.Box
	}
	if p := l.Placeholder(e.Role, e.Index); p != nil {
		return p.Box
	}
	return nil
}

// Style returns the look of a level of an element's text: what the text itself says, or else its placeholder.
func (l *Layout) Style(e *Element, level int) Style {
	if e.Text != nil && len(e.Text.Styles) > 0 {
		return StyleAt(e.Text.Styles, level)
	}
	if p := l.Placeholder(e.Role, e.Index); p != nil {
		return StyleAt(p.Styles, level)
	}
	return Style{}
}

// StyleAt returns the style of a level: the last one holds for deeper levels.
func StyleAt(styles []Style, level int) Style {
	if len(styles) == 0 {
		return Style{}
	}
	return styles[min(level, len(styles)-1)]
}

// DefaultSize is the size of text that nothing else says, in points.
const DefaultSize = 18

// Color returns a colour of the deck as "#RRGGBB": one of that form, or of the theme; fallback names one of the theme.
func (t *Theme) Color(name, fallback string) string {
	if hexColor(name) {
		return name
	}
	if c := t.Colors[name]; hexColor(c) {
		return c
	}
	if c := t.Colors[fallback]; hexColor(c) {
		return c
	}
	return houseColors[fallback]
}

// Family returns the family of a font: major and minor are the theme's, and "" is minor.
func (t *Theme) Family(font string) string {
	switch font {
	case "", "minor":
		font = t.Fonts.Minor
	case "major":
		font = t.Fonts.Major
	}
	if font == "" {
		return houseFont
	}
	return font
}

// Labels returns the categories with the texts of their groups before them, each cut to most bytes.
func (c *Chart) Labels(most int) []string {
	out := slices.Clone(c.Categories)
	for i := range out {
		out[i] = cut(out[i], most)
	}
	for _, group := range c.Groups {
		last := ""
		for i := range out {
			if i < len(group) && group[i] != "" {
				last = cut(group[i], most)
			}
			if last != "" {
				out[i] = cut(last+" / "+out[i], most)
			}
		}
	}
	return out
}

// cut cuts a text to most bytes.
func cut(text string, most int) string {
	const dots = "…"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(most-len(dots), 0)], "") + dots
}

// Shown returns the keys of the media that slides and layouts show, in their order, each once.
func (d *Deck) Shown() []string {
	used := map[string]bool{}
	visit := func(elements []Element) {
		for _, e := range elements {
			if e.Picture != nil {
				used[e.Picture.Media] = true
			}
		}
	}
	for _, s := range d.Slides {
		visit(s.Elements)
	}
	for _, l := range d.Layouts {
		visit(l.Elements)
	}
	return slices.Sorted(maps.Keys(used))
}
