package docx

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// font is what a w:rPr says about the look of text.
type font struct {
	style string // of the characters
	size  int    // half points; 0: unset
	bold  weight
	place place
}

// weight is whether text is bold.
type weight int

const (
	unset weight = iota
	bold
	regular
)

// place is whether text is set above or below the line (w:vertAlign).
type place int

const (
	onLine place = iota
	above
	below
)

const (
	maxFonts     = 16 // of a paragraph; one that is a heading has few
	standardSize = 20 // half points, where nothing states a size (17.3.2.38)
)

// read reads a child of a w:rPr.
func (f *font) read(start xml.StartElement) {
	switch start.Name.Local {
	case "rStyle":
		f.style = ooxml.Attr(start, "val")
	case "b":
		f.bold = regular
		if on(ooxml.Attr(start, "val")) {
			f.bold = bold
		}
	case "sz":
		if n := number(start); n != nil {
			f.size = max(*n, 0)
		}
	case "vertAlign":
		switch ooxml.Attr(start, "val") {
		case "superscript":
			f.place = above
		case "subscript":
			f.place = below
		default:
			f.place = onLine
		}
	}
}

// or returns f with what it doesn't set from the one that it is based on.
func (f font) or(base font) font {
	if f.size == 0 {
		f.size = base.size
	}
	if f.bold == unset {
		f.bold = base.bold
	}
	return f
}

// raised reports whether text of a font is a superscript, by itself or by the style of its characters.
func (r *reader) raised(f font) bool {
	if named := r.styles.byRun[f.style]; named != nil && f.place == onLine {
		f.place = named.font.place
	}
	return f.place == above
}

// see notes how a text of the paragraph is set.
func (p *paragraph) see(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	p.set.Text()
	if p.font.place == onLine && len(p.seen) < maxFonts && !slices.Contains(p.seen, p.font) {
		p.seen = append(p.seen, p.font)
	}
}

// look returns how a paragraph is set.
func (r *reader) look(p *paragraph) flow.Look {
	st := p.resolved
	look := p.set
	look.Title = st.name == "title"
	for _, f := range p.seen {
		if named := r.styles.byRun[f.style]; named != nil {
			f = f.or(named.font)
		}
		f = f.or(st.font).or(r.styles.font)
		if f.size == 0 {
			f.size = standardSize
		}
		look.Font(float64(f.size)/2, f.bold == bold)
	}
	return look
}
