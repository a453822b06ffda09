package xlsx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// readPeople reads the participants of comment threads.
func (r *reader) readPeople(d *ooxml.Decoder) error {
	r.people = map[string]string{}
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local == "person" {
			name := ooxml.Attr(start, "displayName")
			r.people[ooxml.Attr(start, "id")] = name
			return r.spend(len(name))
		}
		return nil
	})
}

// comments emits the comment threads on the sheet's cells, then the notes, except those that only duplicate a
// thread for old programs.
func (s *sheet) comments(relations map[string]ooxml.Relation) error {
	if part := ooxml.OfType(relations, "threadedComment"); part != "" {
		if err := ooxml.Optional(s.r.pkg.Read(s.r.ctx, part, s.threads)); err != nil {
			return err
		}
	}
	if part := ooxml.OfType(relations, "comments"); part != "" {
		return ooxml.Optional(s.r.pkg.Read(s.r.ctx, part, s.notes))
	}
	return nil
}

func (s *sheet) threads(d *ooxml.Decoder) error {
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "threadedComment" {
			return nil
		}
		return d.Children(func(child xml.StartElement) error {
			if child.Name.Local != "text" {
				return d.Skip()
			}
			text, err := d.Text(maxText)
			if err != nil {
				return err
			}
			return s.comment(s.r.people[ooxml.Attr(start, "personId")], ooxml.Attr(start, "dT"), text)
		}, nil)
	})
}

func (s *sheet) notes(d *ooxml.Decoder) error {
	var authors []string
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "author":
			name, err := d.Text(maxText)
			authors = append(authors, name)
			if err != nil {
				return err
			}
			return s.r.spend(len(name) + entryBytes)
		case "comment":
			author := ""
			if i := ooxml.Int(ooxml.Attr(start, "authorId"), -1); i >= 0 && i < len(authors) {
				author = authors[i]
			}
			return d.Children(func(child xml.StartElement) error {
				if child.Name.Local != "text" {
					return d.Skip()
				}
				text, err := richText(d)
				if err != nil || strings.HasPrefix(author, "tc={") {
					return err
				}
				return s.comment(author, "", text)
			}, nil)
		}
		return nil
	})
}

func (s *sheet) comment(author, at, text string) error {
	if text = ooxml.Comment(author, at, text); text == "" {
		return nil
	}
	return s.emit(extract.Block{Kind: extract.Paragraph, Text: text})
}
