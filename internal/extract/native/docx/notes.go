package docx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// cite writes a note's number at the reference and keeps the note's text to follow the block.
func (r *reader) cite(p *paragraph, kind string, start xml.StartElement) error {
	note := r.notes[kind+" "+ooxml.Attr(start, "id")]
	if note.Text == "" {
		return nil
	}
	if err := r.out.Spend(len(note.Text)); err != nil {
		return err
	}
	p.full.place = onLine // the mark is apart from a number in superscript
	return r.put(p, r.out.Cite(extract.Block{Text: note.Text, Links: note.Links}))
}

// comment keeps a reader's comment to follow the block that it is about. Replies have references of their own.
func (r *reader) comment(id string) {
	if b, ok := r.comments[id]; ok {
		delete(r.comments, id)
		r.out.Follow(b)
	}
}

// annotation reads an aml:annotation, which is what Word 2003 has for tracked changes, comments and bookmarks.
func (r *reader) annotation(p *paragraph, start xml.StartElement) error {
	switch ooxml.Attr(start, "type") {
	case "Word.Insertion":
		return r.inline(p)
	case "Word.Comment":
		box := &paragraph{}
		err := r.textBox(box)
		text := ooxml.Comment(ooxml.Attr(start, "author"), ooxml.Attr(start, "createdate"), extract.CellText(box.boxes))
		if text != "" {
			r.out.Follow(extract.Block{Kind: extract.Paragraph, Text: text})
		}
		return err
	}
	return r.d.Skip()
}

// readNotes reads the part with the footnotes, the endnotes or the comments, without separators.
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
		err := r.story(r.into(&blocks))
		r.fields, r.held = nil, 0
		cell := extract.CellOf(blocks)
		cell.Text, cell.Links = extract.Trim(cell.Text, cell.Links)
		id := ooxml.Attr(start, "id")
		if err == nil {
			err = r.holdNotes()
		}
		if kind != "comment" {
			r.notes[kind+" "+id] = cell
			return err
		}
		if _, known := r.comments[id]; cell.Text != "" && !known {
			about := ooxml.About(ooxml.Attr(start, "author"), ooxml.Attr(start, "date"))
			r.comments[id] = extract.Block{
				Kind: extract.Paragraph, Text: about + cell.Text, Links: extract.Shift(cell.Links, len(about)),
			}
			r.ordered = append(r.ordered, id)
		}
		return err
	})
}
