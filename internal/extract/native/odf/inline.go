package odf

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const maxBlanks = 1000 // in one text:s

// inline reads the content of a paragraph or of an element within it: spans, links, fields, formulas.
func (r *reader) inline(p *paragraph) error {
	return r.d.Children(
		func(start xml.StartElement) error { return r.inlineElement(p, start) },
		func(piece []byte) error { return r.write(p, string(piece)) })
}

func (r *reader) inlineElement(p *paragraph, start xml.StartElement) error {
	switch start.Name.Local {
	case "s":
		n := count(start, "c", maxBlanks)
		if err := r.put(p, strings.Repeat(" ", n)); err != nil {
			return err
		}
	case "tab":
		p.look.Tab(p.text.String())
		tab := " "
		if p.code {
			tab = "\t"
		}
		if err := r.put(p, tab); err != nil {
			return err
		}
	case "line-break":
		p.blank = false
		if err := r.put(p, "\n"); err != nil {
			return err
		}
	case "note":
		return r.note(p)
	case "span":
		style := ooxml.Attr(start, "style-name")
		r.size = max(r.size, r.styles.size("text", style))
		outer, above := p.font, p.above
		p.above = above || r.styles.raised(style)
		if r.main && r.out.Looks() {
			p.font = r.styles.font("text", style, outer)
		}
		err := r.span(p, r.styles.hidden("text", style))
		p.font, p.above = outer, above
		return err
	case "hidden-text", "hidden-paragraph":
		return r.span(p, ooxml.Attr(start, "is-hidden") != "false")
	case "annotation":
		if p.mute == 0 {
			return r.comment()
		}
		return r.d.Skip()
	// Phonetic guides, scripts and prompts are not text of the document.
	case "annotation-end", "ruby-text", "script", "tracked-changes", "placeholder":
		return r.d.Skip()
	case "object", "math":
		return r.box(p, start)
	case "a":
		p.links.Begin(ooxml.Attr(start, "href"), p.text.Len())
		err := r.inline(p)
		p.links.End(p.text.Len())
		return err
	case "list", "table", "p", "h", "text-box":
		return r.box(p, start)
	case "title", "desc": // of a drawing; a field with the document's title has text
		if strings.Contains(start.Name.Space, "svg") {
			return r.d.Skip()
		}
	}
	if isShape(start.Name.Local) {
		return r.box(p, start)
	}
	return r.inline(p) // a, meta, bookmark-ref, date, sequence, ruby-base, mtext …
}

// box reads a frame. Its blocks follow the paragraph or the sheet that anchors it.
func (r *reader) box(p *paragraph, start xml.StartElement) error {
	if r.shapes != nil {
		return r.shape(start)
	}
	r.formula = ""
	blocks, err := r.collect(func(emit extract.Emit) error { return r.block(start, emit) })
	switch {
	case p.mute > 0 || err != nil:
	case len(blocks) == 1 && r.formula != "" && blocks[0].Text == r.formula:
		return r.putFormula(p, r.formula)
	default:
		p.boxes = append(p.boxes, blocks...)
	}
	return err
}

// putFormula writes a formula apart from the words next to it.
func (r *reader) putFormula(p *paragraph, text string) error {
	if !p.blank {
		text = formula.After(p.text.String(), text)
	}
	err := r.put(p, text)
	p.after = p.text.Len()
	return err
}

// comment reads an office:annotation. It follows the block that it is about.
func (r *reader) comment() error {
	author, at := "", ""
	blocks, err := r.collect(func(emit extract.Emit) error {
		return r.d.Children(func(start xml.StartElement) (err error) {
			switch start.Name.Local {
			case "creator":
				author, err = r.d.Text(maxProperty)
				return err
			case "date":
				at, err = r.d.Text(maxProperty)
				return err
			case "p", "list":
				return r.block(start, emit)
			}
			return r.d.Skip()
		}, nil)
	})
	if text := ooxml.Comment(author, at, extract.CellText(blocks)); err == nil && text != "" {
		r.out.Follow(extract.Block{Kind: extract.Paragraph, Text: text, Page: r.page})
	}
	return err
}

func (r *reader) span(p *paragraph, hidden bool) error {
	if !hidden {
		return r.inline(p)
	}
	p.mute++
	err := r.inline(p)
	p.mute--
	return err
}

// write adds text with white space collapsed (ISO/IEC 26300 part 3, 6.1.2).
func (r *reader) write(p *paragraph, text string) error {
	if p.mute > 0 {
		return nil
	}
	before := p.text.Len()
	var out strings.Builder
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
			p.blank = true
			continue
		}
		if before+out.Len() > 0 && (p.blank || p.after == before+out.Len() && formula.Before(string(c))[0] == ' ') {
			out.WriteByte(' ')
		}
		p.blank = false
		out.WriteRune(c)
	}
	if p.above {
		p.text.Raise(out.String())
	} else {
		p.text.WriteString(out.String())
	}
	if r.main && p.text.Len() > before {
		p.look.Text()
		if !p.font.mark {
			p.look.Font(float64(p.font.size)/10, p.font.bold)
		}
	}
	return r.out.Spend(p.text.Len() - before)
}

// put adds text verbatim.
func (r *reader) put(p *paragraph, text string) error {
	if p.mute > 0 {
		return nil
	}
	if p.blank && p.text.Len() > 0 {
		p.text.WriteString(" ")
	}
	p.blank = false
	p.text.WriteString(text)
	return r.out.Spend(len(text))
}

// note reads a text:note: its mark is written in place, its text follows the block.
func (r *reader) note(p *paragraph) error {
	return r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "note-body" {
			return r.d.Skip()
		}
		blocks, err := r.collect(r.blocks)
		if err != nil {
			return err
		}
		note := extract.CellOf(blocks)
		if note.Text, note.Links = extract.Trim(note.Text, note.Links); note.Text == "" || p.mute > 0 {
			return nil
		}
		return r.put(p, r.out.Cite(extract.Block{Text: note.Text, Links: note.Links, Page: r.page}))
	}, nil)
}
