package typeset

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// lineHeight is the height of a line as a part of the font's size. Fonts have 1.15 to 1.22.
const lineHeight = 1.2

// ListStep is how far the items of a list are indented by level, in EMU, where the style says nothing.
const ListStep = 285750.0

// Block is a text that was broken into lines.
type Block struct {
	Lines  []Line
	Height float64 // in points
	Width  float64 // of the widest line
}

// Setter breaks the texts of a deck.
type Setter struct {
	Face Face
	Deck *deck.Deck
}

// Text breaks an element's text into lines of a width in points.
func (s Setter) Text(layout *deck.Layout, e *deck.Element, t *deck.Text, width float64) Block {
	styled := func(level int) deck.Style {
		if len(t.Styles) > 0 {
			return deck.StyleAt(t.Styles, level)
		}
		return layout.Style(e, level)
	}
	return s.Styled(t, styled, width)
}

// Styled breaks a text whose levels have the styles. A text that does not wrap has lines of any width.
func (s Setter) Styled(t *deck.Text, style func(level int) deck.Style, width float64) Block {
	var b Block
	var counts Counter
	scale := t.Scale
	if scale == 0 {
		scale = 1
	}
	if t.NoWrap {
		width = 1e6
	}
	for i := range t.Paragraphs {
		p := &t.Paragraphs[i]
		st := style(p.Level)
		lines := s.paragraph(p, st, scale, width, &counts)
		space := float64(st.Before) / 100
		if p.Before > 0 {
			space = float64(p.Before) / 100
		}
		if i > 0 {
			b.Height += space * scale
		}
		for k := range lines {
			lines[k].Paragraph, lines[k].Y = i, b.Height
			b.Height += lines[k].Height
			b.Width = max(b.Width, lines[k].Width)
		}
		b.Lines = append(b.Lines, lines...)
	}
	return b
}

// Look returns the look of a run in a style.
func (s Setter) Look(r *deck.Run, st deck.Style, scale float64) Look {
	l := Look{Bold: st.Bold, Italic: st.Italic, Size: st.Size, Family: s.Deck.Theme.Family(st.Font)}
	if r.Bold != nil {
		l.Bold = *r.Bold
	}
	if r.Italic != nil {
		l.Italic = *r.Italic
	}
	if r.Size > 0 {
		l.Size = r.Size
	}
	if l.Size == 0 {
		l.Size = deck.DefaultSize
	}
	if r.Font != "" {
		l.Family = s.Deck.Theme.Family(r.Font)
	}
	l.Size *= scale
	if r.Baseline != 0 {
		l.Size *= 2.0 / 3
	}
	return l
}

func (s Setter) paragraph(p *deck.Paragraph, st deck.Style, scale, width float64, counts *Counter) []Line {
	var all []span
	for i := range p.Runs {
		glued := len(all) > 0 && all[len(all)-1].space == 0 && !all[len(all)-1].end
		all = append(all, spans(s.Face, p.Runs[i].Text, i, s.Look(&p.Runs[i], st, scale), glued)...)
	}
	empty := s.Look(&deck.Run{}, st, scale)
	if len(all) == 0 {
		all = []span{{look: empty}}
	}
	list := p.List
	if list == nil {
		list = st.List
	}
	marker := counts.Next(list, p.Level)
	if strings.TrimSpace(p.Plain()) == "" {
		marker = ""
	}
	margin, indent := float64(st.Margin)/Point, float64(st.Indent)/Point
	if p.List != nil && p.List.Kind == deck.NoList && indent < 0 { // it begins where the markers of others are
		margin, indent = max(margin+indent, 0), 0
	}
	if own := p.List; own != nil && own.Kind != deck.NoList && (st.List == nil || st.Margin == 0) {
		margin, indent = ListStep/Point*float64(p.Level+1), -ListStep/Point
	}
	firstX := margin + indent
	if marker != "" {
		const gap = 4 // points, behind a marker that is wider than its place
		firstX = max(margin, firstX+s.Face.Width(marker, empty)+gap)
	}
	align := p.Align
	if align == "" {
		align = st.Align
	}
	rtl := p.RightToLeft(st)
	if align == "" && rtl {
		align = deck.AlignRight
	}
	const least = 20 // points: however narrow the box is, a line has room for a letter
	wrapped := wrap(s.Face, all, max(width-firstX, least), max(width-margin, least))
	lines := make([]Line, len(wrapped))
	for i, spans := range wrapped {
		x := margin
		if i == 0 {
			x = firstX
		}
		lines[i] = s.line(spans, x, width, align, st, empty.Size)
		if rtl {
			lines[i].mirror(x)
		}
		lines[i].Last = i == len(wrapped)-1 || len(spans) > 0 && spans[len(spans)-1].end
	}
	if marker != "" {
		lines[0].Marker, lines[0].MarkerX = marker, margin+indent
		if rtl {
			lines[0].MarkerX = lines[0].end() + firstX - (margin + indent)
		}
	}
	return lines
}

// mirror moves a line whose margin is on the left to where it is with the margin on the right.
func (l *Line) mirror(margin float64) {
	for i := range l.Pieces {
		l.Pieces[i].X -= margin
	}
}

// end is the right end of a line.
func (l *Line) end() float64 {
	if n := len(l.Pieces); n > 0 {
		return l.Pieces[n-1].X + l.Pieces[n-1].Width
	}
	return 0
}

// line places the spans of a line from x on.
func (s Setter) line(spans []span, x, width float64, align deck.Align, st deck.Style, least float64) Line {
	l := Line{}
	for _, sp := range spans {
		l.Size = max(l.Size, sp.look.Size)
		raw := len(sp.text)
		if sp.end {
			raw++
		}
		n := len(l.Pieces)
		if n > 0 && l.Pieces[n-1].Run == sp.run {
			l.Pieces[n-1].Text += sp.text
			l.Pieces[n-1].Width += sp.width
			l.Pieces[n-1].Raw += raw
		} else if raw > 0 {
			l.Pieces = append(l.Pieces, Piece{Text: sp.text, Run: sp.run, Look: sp.look, Width: sp.width, Raw: raw})
		}
		l.Width += sp.width
	}
	if l.Size == 0 {
		l.Size = least
	}
	if n := len(l.Pieces); n > 0 { // the space at the end hangs over the edge
		last := &l.Pieces[n-1]
		last.Text = strings.TrimRightFunc(last.Text, unicode.IsSpace)
		l.Width -= spans[len(spans)-1].space
		last.Width -= spans[len(spans)-1].space
	}
	if width < 1e6 {
		switch align {
		case deck.AlignCenter:
			x += max((width-x-l.Width)/2, 0)
		case deck.AlignRight:
			x += max(width-x-l.Width, 0)
		case deck.AlignLeft, deck.AlignJustify:
		}
	}
	for i := range l.Pieces {
		l.Pieces[i].X = x
		x += l.Pieces[i].Width
	}
	factor := st.Line
	if factor == 0 {
		factor = 1
	}
	l.Height = l.Size * lineHeight * factor
	return l
}
