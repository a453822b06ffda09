package pptx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	symbols "github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

const (
	maxLevel     = 8
	maxText      = 1 << 20 // bytes of one a:t
	maxLanguages = 64
	maxLanguage  = 64 // bytes of the name of one
)

// paragraph is an a:p.
type paragraph struct {
	text   string
	links  []extract.Link
	level  int // 0-8
	bullet bullet
}

// paragraph reads an a:p. Only text elements, also those of formulas, yield text; the slide number field yields
// none.
func (r *reader) paragraph() (paragraph, error) {
	if err := r.item(); err != nil {
		return paragraph{}, err
	}
	var p paragraph
	var b linkedText
	err := r.inline(&p, &b)
	p.text, p.links = b.String(), b.links.Take(b.Len())
	return p, err
}

// linkedText is the text of a paragraph being read.
type linkedText struct {
	strings.Builder
	links   extract.Linker
	formula int // where the last formula ends; 0: there is none
}

func (r *reader) inline(p *paragraph, b *linkedText) error {
	language, target := "", ""
	var fonts fonts
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "pPr":
			p.level = min(max(ooxml.Int(ooxml.Attr(start, "lvl"), 0), 0), maxLevel)
			return r.bullet(&p.bullet)
		case "rPr":
			language = ooxml.Attr(start, "lang")
			return r.d.Children(func(start xml.StartElement) error {
				switch start.Name.Local {
				case "hlinkClick":
					target = r.target(ooxml.RelationID(start, "id"))
				case "latin":
					fonts.letters = ooxml.Attr(start, "typeface")
				case "sym":
					fonts.symbols = ooxml.Attr(start, "typeface")
				}
				return r.d.Skip()
			}, nil)
		case "t":
			text, err := r.d.Text(maxText)
			if err != nil {
				return err
			}
			text = fonts.shown(text)
			r.speak(language, text)
			if b.formula > 0 && b.formula == b.Len() {
				text = formula.Before(text)
			}
			b.links.Begin(target, b.Len())
			b.WriteString(text)
			b.links.End(b.Len())
			return r.spend(text)
		case "br":
			b.WriteString("\n")
		case "tab":
			b.WriteString(" ")
		case "oMath", "oMathPara":
			text, err := formula.Read(r.d, start)
			if err != nil {
				return err
			}
			b.WriteString(formula.After(b.String(), text))
			b.formula = b.Len()
			return r.spend(text)
		case "fld":
			if ooxml.Attr(start, "type") == "slidenum" {
				return r.d.Skip()
			}
		case "AlternateContent":
			return r.d.Choice(func() error { return r.inline(p, b) })
		case "endParaRPr":
			return r.d.Skip()
		}
		return r.inline(p, b)
	}, nil)
}

// fonts are the fonts of a run: of its letters, and of its characters from U+F000 to U+F0FF (21.1.2.3.10).
type fonts struct{ letters, symbols string }

// shown returns what the fonts show of a text: PowerPoint makes an arrow in Wingdings of a typed "-->".
func (f fonts) shown(text string) string {
	switch {
	case symbols.Font(f.letters):
		return symbols.Run(f.letters, text)
	case symbols.Font(f.symbols):
		return symbols.Private(f.symbols, text)
	}
	return text
}

// target returns the target of a link in the part being read: an address, or "#slide" and its number.
func (r *reader) target(id string) string {
	to := r.relations[id]
	if number := r.numbers[to.Target]; number > 0 && to.Type == "slide" {
		return "#slide" + strconv.Itoa(number)
	}
	return to.Target
}

func (r *reader) speak(language, text string) {
	if language == "" || len(language) > maxLanguage {
		return
	}
	if _, known := r.languages[language]; !r.quiet && (known || len(r.languages) < maxLanguages) {
		r.languages[language] += len(text)
	}
}

// blocksOf returns a block for each paragraph of a shape: a list item if the paragraph, the shape, or the
// placeholder that it fills sets a bullet or a number.
func blocksOf(s *shape, look *layout) []extract.Block {
	var blocks []extract.Block
	var counts counter
	for _, p := range s.text {
		b := p.bullet
		if b.kind == inherited {
			b = s.styles[p.level]
		}
		if b.kind == inherited && s.placeholder != nil {
			b = look.bullet(s.placeholder, p.level)
		}
		if b.kind == inherited && p.level > 0 { // probably below a list item
			b.kind = symbol
		}
		block := extract.Block{Kind: extract.Paragraph, Text: p.text, Links: p.links}
		if marker := counts.next(b, p.level); marker != "" {
			block.Kind, block.Level, block.Marker = extract.ListItem, p.level, marker
		}
		blocks = append(blocks, block)
	}
	return blocks
}
