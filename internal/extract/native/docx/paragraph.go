package docx

import (
	"cmp"
	"encoding/xml"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

// maxDrop is the bytes of a large first letter, perhaps with a quotation mark, or of a first word.
const maxDrop = 16

// paragraph is a w:p being read.
type paragraph struct {
	mark
	text     symbol.Line
	links    extract.Linker
	formula  int             // where the last formula ends; 0: there is none
	boxes    []extract.Block // text boxes anchored in it
	font     font            // of the run being read
	full     font            // with what the style of its characters sets
	typed    bool            // all of it is in the letters of a typewriter
	seen     []font          // different ones of its text
	set      flow.Look
	resolved style // once it is finished
}

// mark is what the mark of a paragraph holds: its properties.
type mark struct {
	style   string
	numbers numbers
	outline *int
	hidden  bool // by its style
	drop    bool // the paragraph is a large first letter of the next one (w:dropCap)
	deleted bool // by a tracked change: the text begins the next paragraph
}

// blocks reads the block-level children of an element (17.2.2) and passes each block to emit.
func (r *reader) blocks(emit extract.Emit) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "p":
			return r.paragraph(emit)
		case "tbl":
			return r.table(emit)
		case "AlternateContent":
			return r.d.Choice(func() error { return r.blocks(emit) })
		case "del", "moveFrom", "sdtPr", "sdtEndPr", "sectPr", "tcPr", "customXmlPr":
			return r.d.Skip()
		case "altChunk":
			return r.imported(start, emit)
		case "oMathPara", "oMath": // between paragraphs
			p := &paragraph{}
			if err := r.formula(p, start); err != nil || p.text.Len() == 0 {
				return err
			}
			if err := r.rest(emit); err != nil {
				return err
			}
			return emit(extract.Block{Kind: extract.Paragraph, Text: p.text.String()})
		}
		return r.blocks(emit) // sdt, sdtContent, customXml, ins, moveTo …
	}, nil)
}

// story reads the blocks of a text of its own: no large letter goes from it into another.
func (r *reader) story(emit extract.Emit) error {
	if err := r.blocks(emit); err != nil {
		return err
	}
	if err := r.rest(emit); err != nil {
		return err
	}
	text := strings.TrimSpace(r.dropped)
	r.dropped = ""
	if text == "" {
		return nil
	}
	return emit(extract.Block{Kind: extract.Paragraph, Text: text}) // no paragraph came
}

// dropped returns a large first letter as the paragraph begins with it: a word and a number are apart from the next word.
func dropped(text string) string {
	letter := strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(letter)
	if strings.HasSuffix(text, " ") && letter != "" || unicode.IsDigit(last) {
		letter += " "
	}
	return letter
}

func (r *reader) paragraph(emit extract.Emit) error {
	p := cmp.Or(r.begun, &paragraph{typed: true})
	r.begun = nil
	p.mark = mark{}
	p.text.WriteString(r.dropped)
	r.dropped = ""
	if target := r.linkedField(); target != "" { // its field began in an earlier paragraph
		p.links.Begin(target, p.text.Len())
	}
	if err := r.inline(p); err != nil {
		return err
	}
	for i := range r.fields { // an instruction ends with its paragraph at the latest
		r.fields[i].result = true
	}
	if p.deleted {
		r.begun = p
		return nil
	}
	if p.drop && p.text.Len() <= maxDrop {
		r.dropped = dropped(p.text.String())
		p.text.Reset()
	}
	return r.end(p, emit)
}

// rest emits the text of a paragraph whose mark is deleted, and that no other paragraph follows.
func (r *reader) rest(emit extract.Emit) error {
	p := r.begun
	if r.begun = nil; p == nil {
		return nil
	}
	return r.end(p, emit)
}

// end emits a paragraph and what is anchored in it.
func (r *reader) end(p *paragraph, emit extract.Emit) error {
	for i, b := range append(r.finish(p), p.boxes...) {
		if r.main && i == 0 && (p.typed || r.out.Looks()) {
			r.out.Set(r.look(p))
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// finish returns the paragraph's block, or nothing if it has no text. An empty paragraph in a list still
// counts, unless it is deleted.
func (r *reader) finish(p *paragraph) []extract.Block {
	st := r.styles.resolve(p.style)
	p.resolved = st
	text, links := extract.Trim(p.text.String(), p.links.Take(p.text.Len()))
	if text == "" && p.deleted {
		return nil
	}
	marker, depth, listed := r.marker(p, st)
	if text == "" {
		return nil
	}
	b := extract.Block{Kind: extract.Paragraph, Text: text, Links: links}
	outline := p.outline
	if outline == nil {
		outline = st.outline
	}
	switch {
	case st.name == "title":
		b.Kind, b.Level = extract.Heading, 1
		r.titled = true
		if r.title == "" {
			r.title = text
		}
	case outline != nil && *outline >= 0 && *outline < bodyText:
		b.Kind, b.Level = extract.Heading, *outline+1
		if r.titled {
			b.Level++
		}
		b.Level = min(b.Level, 6)
		if listed && marker != "" && marker != "-" {
			b.Text, b.Links = marker+" "+text, extract.Shift(links, len(marker)+1)
		}
	case listed && marker != "":
		b.Kind, b.Level, b.Marker = extract.ListItem, depth, marker
	case st.name == "caption":
		b.Kind = extract.Caption
	case st.isCode():
		b.Kind, b.Text = extract.Code, strings.TrimRight(p.text.String(), " \n")
	}
	return []extract.Block{b}
}

// marker counts the paragraph in its list and returns its marker.
func (r *reader) marker(p *paragraph, st style) (marker string, depth int, listed bool) {
	id := cmp.Or(p.numbers.id, st.numbers.id)
	if id == nil || *id == 0 {
		return "", 0, false
	}
	if p.numbers.level != nil {
		depth = *p.numbers.level
	} else {
		depth = r.level(*id, p.style)
	}
	marker, listed = r.numbering.next(*id, depth)
	return marker, min(max(depth, 0), maxLevel), listed
}

// level returns the level of a style's paragraphs in a list. A style inherits its list and its level apart: the level is that of the
// nearest style that the list links to one (17.9.23) or that sets one.
func (r *reader) level(list int, id string) int {
	for at, st := range r.styles.chain(id) {
		if level, ok := r.numbering.linkedTo(list, at); ok {
			return level
		}
		if st.numbers.level != nil {
			return *st.numbers.level
		}
	}
	return 0
}

// properties reads a w:pPr.
func (r *reader) properties(p *paragraph) error {
	err := r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "pStyle":
			p.style = ooxml.Attr(start, "val")
		case "numPr":
			return p.numbers.read(r.d)
		case "outlineLvl":
			p.outline = number(start)
		case "framePr":
			drop := ooxml.Attr(start, "dropCap")
			p.drop = drop == "drop" || drop == "margin"
		case "rPr": // of the paragraph's mark
			return r.d.Children(func(start xml.StartElement) error {
				p.deleted = p.deleted || start.Name.Local == "del" || start.Name.Local == "moveFrom"
				return r.d.Skip()
			}, nil)
		}
		return r.d.Skip()
	}, nil)
	p.hidden = r.styles.resolve(p.style).font.hidden == set
	return err
}

// unless returns the paragraph, or one that takes hidden text.
func (p *paragraph) unless(hidden bool) *paragraph {
	if hidden {
		return &paragraph{}
	}
	return p
}
