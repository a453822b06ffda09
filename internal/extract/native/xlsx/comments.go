package xlsx

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// readPeople reads the participants of comment threads.
func (r *reader) readPeople(d *ooxml.Decoder) error {
	r.people = map[string]string{}
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local == "person" {
			name, id := ooxml.Attr(start, "displayName"), ooxml.Attr(start, "id")
			r.people[id] = name
			return r.spend(len(name) + len(id) + cellBytes)
		}
		return nil
	})
}

// comment is a note or a comment of a thread.
type comment struct {
	at   place // of its cell
	text string
}

// comments emits the comment threads and the notes on the sheet's cells in the order of these, except the notes that
// only duplicate a thread for old programs.
func (s *sheet) comments(relations map[string]ooxml.Relation) error {
	for _, kind := range []struct {
		relation string
		read     func(*ooxml.Decoder) error
	}{{"threadedComment", s.threads}, {"comments", s.notes}} {
		if part := ooxml.OfType(relations, kind.relation); part != "" {
			if err := ooxml.Optional(s.r.pkg.Read(s.r.ctx, part, kind.read)); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(s.said, func(a, b comment) int {
		return cmp.Or(cmp.Compare(a.at.row, b.at.row), cmp.Compare(a.at.column, b.at.column))
	})
	for _, c := range s.said {
		if err := s.emit(extract.Block{Kind: extract.Paragraph, Text: c.text}); err != nil {
			return err
		}
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
			return s.say(start, s.r.people[ooxml.Attr(start, "personId")], ooxml.Attr(start, "dT"), text)
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
				return s.say(start, author, "", text)
			}, nil)
		}
		return nil
	})
}

// say keeps a comment, whose element is start.
func (s *sheet) say(start xml.StartElement, author, at, text string) error {
	if text = ooxml.Comment(author, at, text); text == "" {
		return nil
	}
	cell, _ := parsePlace(ooxml.Attr(start, "ref"))
	s.said = append(s.said, comment{cell, text})
	return s.r.spend(len(text) + cellBytes)
}
