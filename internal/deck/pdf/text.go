package pdf

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// area is a rectangle on the page in points.
type area struct{ x, y, w, h float64 }

func areaOf(b *deck.Box) area { return area{points(b.X), points(b.Y), points(b.W), points(b.H)} }

// text draws a text in a box.
func (w *writer) text(layout *deck.Layout, e *deck.Element, at area, f *flow) {
	t := e.Text
	in := deck.DefaultInset
	if t.Inset != nil {
		in = *t.Inset
	}
	left, top := points(in.Left), points(in.Top)
	width, height := at.w-left-points(in.Right), at.h-top-points(in.Bottom)
	style := func(level int) deck.Style {
		if len(t.Styles) > 0 {
			return deck.StyleAt(t.Styles, level)
		}
		return layout.Style(e, level)
	}
	block := w.set.Styled(t, style, max(width, 1))
	anchor := t.Anchor
	if anchor == "" {
		if p := layout.Placeholder(e.Role, e.Index); p != nil {
			anchor = p.Anchor
		}
	}
	y := at.y + top
	switch anchor {
	case deck.AnchorMiddle:
		y += max((height-block.Height)/2, 0)
	case deck.AnchorBottom:
		y += max(height-block.Height, 0)
	case deck.AnchorTop:
	}
	x := at.x + left
	if t.NoWrap && alignOf(t, style) == deck.AlignCenter {
		x += (width - block.Width) / 2
	}
	w.lines(t, block, style, x, y, f)
}

func alignOf(t *deck.Text, style func(int) deck.Style) deck.Align {
	if len(t.Paragraphs) == 0 {
		return ""
	}
	if a := t.Paragraphs[0].Align; a != "" {
		return a
	}
	return style(t.Paragraphs[0].Level).Align
}

// lines draws lines of text from a place on.
func (w *writer) lines(t *deck.Text, b typeset.Block, style func(int) deck.Style, x, y float64, f *flow) {
	for _, l := range b.Lines {
		p := &t.Paragraphs[l.Paragraph]
		st := style(p.Level)
		rtl := p.RightToLeft(st)
		// The letters of most fonts take four fifths of their size above the base line.
		base := y + l.Y + l.Height/2 + l.Size*0.32
		f.begin(l.Paragraph, p, l.Marker != "")
		if l.Marker != "" {
			look := w.set.Look(&deck.Run{}, st, scaleOf(t))
			if len(l.Pieces) > 0 {
				look.Size, look.Bold = l.Pieces[0].Look.Size, false
			}
			color := st.Color
			if len(p.Runs) > 0 && p.Runs[0].Color != "" {
				color = p.Runs[0].Color
			}
			at := x + l.MarkerX
			if rtl {
				at -= w.faces.Width(l.Marker, look)
			}
			w.tag(f.label)
			w.draw(l.Marker, at, base, look, color, &deck.Run{}, rtl)
		}
		// The runs of a line without such a letter keep their order, wherever it begins (Unicode Annex 9).
		w.line(p, l, st, x, base, rtl && hasRTL(p.Plain()) || deck.RightToLeft(p.Plain()), f)
	}
}

func scaleOf(t *deck.Text) float64 {
	if t.Scale == 0 {
		return 1
	}
	return t.Scale
}

// line draws the pieces of a line; from the right if rtl.
func (w *writer) line(p *deck.Paragraph, l typeset.Line, st deck.Style, x, base float64, rtl bool, f *flow) {
	end := x
	if n := len(l.Pieces); n > 0 {
		end = x + l.Pieces[n-1].X + l.Pieces[n-1].Width
	}
	for i, piece := range l.Pieces {
		r := &p.Runs[piece.Run]
		color := r.Color
		if color == "" {
			color = st.Color
		}
		if r.Link != "" && r.Color == "" {
			color = "link"
		}
		at := x + piece.X
		if rtl {
			at = end - (piece.X - l.Pieces[0].X) - piece.Width
		}
		y := base
		switch {
		case r.Baseline > 0:
			y -= piece.Look.Size * 0.5
		case r.Baseline < 0:
			y += piece.Look.Size * 0.2
		}
		text := piece.Text
		if r.Field == "slide_number" {
			text = strconv.Itoa(w.number)
			if a := st.Align; a == deck.AlignRight {
				at += piece.Width - w.faces.Width(text, piece.Look)
			}
		}
		if text == "" {
			continue
		}
		of := f.run(piece.Run, r, w.deck.Language, w.actual(r))
		w.tag(of)
		w.draw(text, at, y, piece.Look, color, r, rtl)
		if i == len(l.Pieces)-1 && piece.Raw > len(piece.Text) && !rtl { // words of two lines stay two words
			w.draw(" ", at+piece.Width, y, piece.Look, color, &deck.Run{}, rtl)
		}
		if r.Link != "" {
			w.link(of, r.Link, strings.TrimSpace(r.Text), area{at, y - piece.Look.Size*0.8, piece.Width, piece.Look.Size * 1.05})
		}
	}
}

// actual is the text of a run whose letters are drawn otherwise than they are written; empty: they are not.
func (w *writer) actual(r *deck.Run) string {
	if hasRTL(r.Text) || w.faces.lacks(r.Text) {
		return r.Text
	}
	return ""
}

// draw draws text on a base line. rtl: it is of a paragraph that is written from right to left.
func (w *writer) draw(text string, x, y float64, look typeset.Look, color string, r *deck.Run, rtl bool) {
	w.pdf.SetTextColor(w.rgb(color, "dark1"))
	from := x
	for _, s := range w.faces.stretches(visual(text, rtl), look) {
		name := w.font(s.font)
		if name == "" {
			return
		}
		w.pdf.SetFont(name, "", look.Size)
		w.pdf.Text(x, y, s.text)
		for _, c := range s.text {
			x += max(s.font.Width(c), 0) * look.Size
		}
	}
	// The library's own lines would take another copy of the font.
	if r.Underline || r.Strike || r.Link != "" {
		w.fill(color, "dark1")
	}
	if r.Underline || r.Link != "" {
		w.pdf.Rect(from, y+look.Size*0.1, x-from, look.Size*0.05, "F")
	}
	if r.Strike {
		w.pdf.Rect(from, y-look.Size*0.28, x-from, look.Size*0.05, "F")
	}
}

// font adds a font to the file, and returns its name there.
func (w *writer) font(f *fonts.Font) string {
	name := f.Name()
	if w.added[name] {
		return name
	}
	data, err := f.Bytes()
	if err != nil {
		w.pdf.SetError(err)
		return ""
	}
	w.pdf.AddUTF8FontFromBytes(name, "", data)
	w.added[name] = true
	return name
}

// link makes a place lead to an address or to a slide. text says what it is.
func (w *writer) link(of *tagged.Element, target, text string, at area) {
	if of == nil { // decoration is not in the tree, and what it leads to is
		of = w.section.Add(&tagged.Element{Type: "Link"})
	}
	l := tagged.Link{Box: w.bounds(at), URI: target, Text: text}
	if text == "" {
		l.Text = target
	}
	if place, inside := strings.CutPrefix(target, "#"); inside {
		n, err := strconv.Atoi(strings.TrimPrefix(place, "slide"))
		if err != nil || n < 1 || n > len(w.deck.Slides) {
			return
		}
		l.URI, l.Page = "", max(w.pages[n], 1)
	}
	w.doc.Link(of, l)
}
