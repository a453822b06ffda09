package pptx

import (
	"encoding/xml"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const authorBytes = 64 // memory of an author in addition to the texts

// notes emits the speaker notes of a slide as one block.
func (r *reader) notes(relations map[string]ooxml.Relation) error {
	part := ooxml.OfType(relations, "notesSlide")
	if part == "" {
		return nil
	}
	own, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return err
	}
	r.relations = own
	shapes, err := r.tree(part)
	r.relations = nil
	if err := ooxml.Optional(err); err != nil {
		return err
	}
	for _, s := range shapes {
		if s.kind() != "body" || len(s.text) == 0 {
			continue
		}
		const label = "Notes: "
		cell := extract.CellOf(blocksOf(s, nil))
		if err := r.emit(extract.Block{
			Kind: extract.Paragraph, Page: r.page, Text: label + cell.Text, Links: extract.Shift(cell.Links, len(label)),
		}); err != nil {
			return err
		}
	}
	return nil
}

// readAuthors reads the comment authors: p:cmAuthor, and since Office 2021 author.
func (r *reader) readAuthors(relations map[string]ooxml.Relation) error {
	for _, kind := range []string{"commentAuthors", "authors"} {
		part := ooxml.OfType(relations, kind)
		if part == "" {
			continue
		}
		err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error {
			return d.Each(func(start xml.StartElement) error {
				if start.Name.Local != "cmAuthor" && start.Name.Local != "author" {
					return nil
				}
				name, initials := ooxml.Attr(start, "name"), ooxml.Attr(start, "initials")
				if name != "" && initials != "" {
					name += " (" + initials + ")"
				}
				id := ooxml.Attr(start, "id")
				r.authors[id] = name
				return r.spendBytes(len(name) + len(id) + authorBytes)
			})
		})
		if err := ooxml.Optional(err); err != nil {
			return err
		}
	}
	return nil
}

// comments emits the comments on a slide in file order, each with its author and time.
func (r *reader) comments(relations map[string]ooxml.Relation) error {
	var parts []string
	for _, relation := range relations {
		if relation.Type == "comments" {
			parts = append(parts, relation.Target)
		}
	}
	slices.Sort(parts)
	for _, part := range parts {
		err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error {
			r.d = d
			return d.Each(func(start xml.StartElement) error {
				if start.Name.Local != "cm" {
					return nil
				}
				texts, err := r.comment(start)
				if err != nil {
					return err
				}
				return r.emitComments(texts)
			})
		})
		if err := ooxml.Optional(err); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) emitComments(texts []string) error {
	for _, text := range texts {
		if err := r.emit(extract.Block{Kind: extract.Paragraph, Page: r.page, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// comment reads a p:cm. Its replies (since Office 2021) precede its text in the file.
func (r *reader) comment(start xml.StartElement) ([]string, error) {
	var own, replies []string
	author, at := r.authors[ooxml.Attr(start, "authorId")], ooxml.Attr(start, "dt")+ooxml.Attr(start, "created")
	add := func(text string) error {
		if text = ooxml.Comment(author, at, text); text != "" {
			own = append(own, text)
		}
		return r.spend(text)
	}
	var read func() error
	read = func() error {
		return r.d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "text":
				text, err := r.d.Text(maxText)
				if err != nil {
					return err
				}
				return add(text)
			case "txBody":
				var s shape
				if err := r.body(&s); err != nil {
					return err
				}
				return add(extract.CellText(blocksOf(&s, nil)))
			case "replyLst":
				return read()
			case "reply":
				texts, err := r.comment(start)
				replies = append(replies, texts...)
				return err
			}
			return r.d.Skip()
		}, nil)
	}
	err := read()
	return append(own, replies...), err
}
