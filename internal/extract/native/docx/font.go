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
	style  string // of the characters
	size   int    // half points; 0: unset
	bold   toggle
	mono   toggle // the letters have one width
	hidden toggle
	place  place
}

// toggle is a property that text may set or unset, or take from its style.
type toggle int

const (
	unset toggle = iota
	set
	cleared
)

func toggled(on bool) toggle {
	if on {
		return set
	}
	return cleared
}

// or returns t, or base if it is unset.
func (t toggle) or(base toggle) toggle {
	if t == unset {
		return base
	}
	return t
}

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
		f.bold = toggled(on(ooxml.Attr(start, "val")))
	case "vanish":
		f.hidden = toggled(on(ooxml.Attr(start, "val")))
	case "rFonts":
		if name := ooxml.Attr(start, "ascii"); name != "" {
			f.mono = toggled(codeFont.MatchString(name))
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
	f.bold, f.mono, f.hidden = f.bold.or(base.bold), f.mono.or(base.mono), f.hidden.or(base.hidden)
	return f
}

// named returns a font with what the style of its characters sets.
func (r *reader) named(f font) font {
	named := r.styles.byRun[f.style]
	if named == nil {
		return f
	}
	if f.place == onLine {
		f.place = named.font.place
	}
	return f.or(named.font)
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
	if p.typed {
		look.Typed = strings.TrimRight(p.text.String(), " \n")
	}
	for _, f := range p.seen {
		f = r.named(f).or(st.font).or(r.styles.font)
		if f.size == 0 {
			f.size = standardSize
		}
		look.Font(float64(f.size)/2, f.bold == set)
	}
	return look
}
