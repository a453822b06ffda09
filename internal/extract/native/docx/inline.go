package docx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
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
		case "txbxContent":
			return r.textBox(p)
		case "AlternateContent":
			return r.d.Choice(func() error { return r.inline(p) })
		// Deleted text, field instructions, phonetic guides and properties are not text of the document.
		case "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "rPr", "sdtPr", "sdtEndPr", "annotation":
			return r.d.Skip()
		case "den":
			p.text.WriteString("/")
		case "sup":
			p.text.WriteString("^")
		case "sub":
			p.text.WriteString("_")
		}
		if err := r.character(p, start); err != nil {
			return err
		}
		return r.inline(p)
	}, nil)
}

// run reads a w:r; a hidden run (w:vanish) yields no text.
func (r *reader) run(p *paragraph) error {
	hidden := false
	into := p
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "rPr":
			err := r.d.Children(func(start xml.StartElement) error {
				hidden = hidden || start.Name.Local == "vanish" && on(ooxml.Attr(start, "val"))
				return r.d.Skip()
			}, nil)
			if hidden {
				into = &paragraph{}
			}
			return err
		case "t":
			return r.text(into)
		case "delText", "instrText", "delInstrText", "rt":
			return r.d.Skip()
		case "txbxContent":
			return r.textBox(into)
		case "AlternateContent":
			return r.d.Choice(func() error { return r.inline(into) })
		}
		if err := r.character(into, start); err != nil {
			return err
		}
		return r.inline(into)
	}, nil)
}

// text reads a w:t or an m:t.
func (r *reader) text(p *paragraph) error {
	return r.d.Children(
		func(xml.StartElement) error { return r.d.Skip() },
		func(piece []byte) error { return r.put(p, string(piece)) })
}

// put adds text, unless it belongs to a field's instruction.
func (r *reader) put(p *paragraph, text string) error {
	for _, result := range r.fields {
		if !result {
			return nil
		}
	}
	p.text.WriteString(text)
	return r.out.Spend(len(text))
}

// character handles the empty elements that represent a character, a note or a field's boundary.
func (r *reader) character(p *paragraph, start xml.StartElement) error {
	switch start.Name.Local {
	case "tab", "ptab":
		return r.put(p, " ")
	case "br":
		if kind := ooxml.Attr(start, "type"); kind == "" || kind == "textWrapping" {
			return r.put(p, "\n")
		}
	case "cr":
		return r.put(p, "\n")
	case "noBreakHyphen":
		return r.put(p, "-")
	case "sym":
		return r.put(p, symbol.Text(ooxml.Attr(start, "font"), ooxml.Attr(start, "char")))
	case "footnoteReference":
		return r.cite(p, "footnote", start)
	case "endnoteReference":
		return r.cite(p, "endnote", start)
	case "fldChar":
		r.field(ooxml.Attr(start, "fldCharType"))
	}
	return nil
}

// field tracks a complex field (17.16.18): begin, instruction, separate, result, end.
func (r *reader) field(mark string) {
	last := len(r.fields) - 1
	switch mark {
	case "begin":
		r.fields = append(r.fields, false)
	case "separate":
		if last >= 0 {
			r.fields[last] = true
		}
	case "end":
		if last >= 0 {
			r.fields = r.fields[:last]
		}
	}
}

// textBox reads a w:txbxContent. Its blocks follow the paragraph that anchors it.
func (r *reader) textBox(p *paragraph) error {
	fields := r.fields
	r.fields = nil
	err := r.blocks(func(b extract.Block) error {
		p.boxes = append(p.boxes, b)
		return nil
	})
	r.fields = fields
	return err
}

// cite writes a note's number at the reference and keeps the note's text to follow the block.
func (r *reader) cite(p *paragraph, kind string, start xml.StartElement) error {
	text := r.notes[kind+" "+ooxml.Attr(start, "id")]
	if text == "" {
		return nil
	}
	if err := r.out.Spend(len(text)); err != nil {
		return err
	}
	return r.put(p, r.out.Cite(extract.Block{Text: text}))
}

// readNotes reads the part with the footnotes or the endnotes, without separators.
func (r *reader) readNotes(d *ooxml.Decoder, kind string) error {
	r.d = d
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local != kind {
			return nil
		}
		if ooxml.Attr(start, "type") != "" && ooxml.Attr(start, "type") != "normal" {
			return d.Skip()
		}
		var blocks []extract.Block
		err := r.blocks(func(b extract.Block) error {
			blocks = append(blocks, b)
			return nil
		})
		r.notes[kind+" "+ooxml.Attr(start, "id")] = strings.TrimSpace(extract.CellText(blocks))
		return err
	})
}
