package docx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

// inline reads the content of a paragraph or of an element within it: runs, links, insertions, drawings,
// formulas. Only text elements yield text, so positions and names in drawings are skipped.
func (r *reader) inline(p *paragraph) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "pPr":
			return r.properties(p)
		case "r":
			return r.run(p)
		case "t":
			return r.text(p)
		case "hyperlink":
			return r.link(p, r.target(start))
		case "fldSimple":
			return r.link(p, flow.Hyperlink(ooxml.Attr(start, "instr")))
		case "txbxContent":
			return r.textBox(p)
		case "AlternateContent":
			return r.d.Choice(func() error { return r.inline(p) })
		case "oMath", "oMathPara":
			return r.formula(p, start)
		// Deleted text, field instructions, phonetic guides and properties are not text of the document.
		case "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "rPr", "sdtPr", "sdtEndPr":
			return r.d.Skip()
		case "annotation":
			return r.annotation(p, start)
		case "chart", "relIds":
			if err := r.graphic(p, start); err != nil {
				return err
			}
		}
		if err := r.character(p, start); err != nil {
			return err
		}
		return r.inline(p)
	}, nil)
}

// run reads a w:r; a hidden run (w:vanish) yields no text.
func (r *reader) run(p *paragraph) error {
	into := p.unless(p.hidden)
	p.font, p.full = font{}, font{}
	defer func() { p.full = font{} }()
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "rPr":
			err := r.d.Children(func(start xml.StartElement) error {
				p.font.read(start)
				return r.d.Skip()
			}, nil)
			p.full = r.named(p.font)
			into = p.unless(p.full.hidden.or(toggled(p.hidden)) == set)
			return err
		case "t":
			return r.text(into)
		case "instrText":
			return r.instruction()
		case "delText", "delInstrText", "rt":
			return r.d.Skip()
		case "txbxContent":
			return r.textBox(into)
		case "AlternateContent":
			return r.d.Choice(func() error { return r.inline(into) })
		case "fldChar":
			return r.field(p, into, start)
		case "annotation":
			return r.annotation(into, start)
		}
		if err := r.character(into, start); err != nil {
			return err
		}
		return r.inline(into)
	}, nil)
}

// text reads a w:t.
func (r *reader) text(p *paragraph) error {
	return r.d.Children(
		func(xml.StartElement) error { return r.d.Skip() },
		func(piece []byte) error { return r.put(p, string(piece)) })
}

// put adds text, unless it belongs to a field's instruction.
func (r *reader) put(p *paragraph, text string) error {
	if r.inInstruction() {
		return nil
	}
	if last := len(r.fields) - 1; last >= 0 && strings.TrimSpace(text) != "" {
		r.fields[last].filled = true
	}
	if p.formula > 0 && p.formula == p.text.Len() {
		text = formula.Before(text)
	}
	if p.full.place == above {
		p.text.Raise(text)
	} else {
		p.text.WriteString(text)
	}
	p.typed = p.typed && (p.full.mono == set || strings.TrimSpace(text) == "")
	if r.main && r.out.Looks() {
		p.see(text)
	}
	return r.out.Spend(len(text))
}

// formula reads an m:oMath or an m:oMathPara.
func (r *reader) formula(p *paragraph, start xml.StartElement) error {
	text, err := formula.Read(r.d, start)
	if err != nil || text == "" {
		return err
	}
	if err := r.put(p, formula.After(p.text.String(), text)); err != nil {
		return err
	}
	p.formula = p.text.Len()
	return nil
}

// character handles the empty elements that represent a character, a note or a comment.
func (r *reader) character(p *paragraph, start xml.StartElement) error {
	switch start.Name.Local {
	case "tab", "ptab":
		p.set.Tab(p.text.String())
		return r.put(p, " ")
	case "br", "cr": // also of a page or column
		return r.put(p, "\n")
	case "noBreakHyphen":
		return r.put(p, "-")
	case "sym":
		return r.put(p, symbol.Text(ooxml.Attr(start, "font"), ooxml.Attr(start, "char")))
	case "footnoteReference":
		return r.cite(p, "footnote", start)
	case "endnoteReference":
		return r.cite(p, "endnote", start)
	case "commentReference":
		r.comment(ooxml.Attr(start, "id"))
	}
	return nil
}

// textBox reads a w:txbxContent. Its blocks follow the paragraph that anchors it.
func (r *reader) textBox(p *paragraph) error {
	fields, main := r.fields, r.main
	r.fields, r.main = nil, false
	err := r.story(r.into(&p.boxes))
	r.fields, r.main = fields, main
	return err
}
