package pptx

import (
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const maxComments = 1000 // of one slide

// related reads the part of a type that the slide refers to; nil: there is none.
func (s *sheet) related(kind string) (*node, map[string]ooxml.Relation, error) {
	part := ooxml.OfType(s.relations, kind)
	if part == "" {
		return nil, nil, nil
	}
	root, err := parse(s.ctx, s.pkg, part)
	if err != nil {
		return nil, nil, ooxml.Optional(err)
	}
	relations, err := s.pkg.Relations(s.ctx, part)
	return root, relations, err
}

// readAuthors reads the authors of comments: p:cmAuthor, and since Office 2021 author.
func (r *reader) readAuthors(relations map[string]ooxml.Relation) error {
	for _, kind := range []string{"commentAuthors", "authors"} {
		part := ooxml.OfType(relations, kind)
		if part == "" {
			continue
		}
		root, err := parse(r.ctx, r.pkg, part)
		if err := ooxml.Optional(err); err != nil {
			return err
		}
		for _, name := range []string{"cmAuthor", "author"} {
			for _, a := range root.all(name) {
				r.authors[a.attr("id")] = clip(a.attr("name"), maxName)
			}
		}
	}
	return nil
}

// comments reads the comments on the slide, each with its replies.
func (s *sheet) comments() error {
	var parts []string
	for _, relation := range s.relations {
		if relation.Type == "comments" {
			parts = append(parts, relation.Target)
		}
	}
	slices.Sort(parts)
	for _, part := range parts {
		root, err := parse(s.ctx, s.pkg, part)
		if err := ooxml.Optional(err); err != nil {
			return err
		}
		for _, cm := range root.all("cm") {
			if err := s.comment(cm); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sheet) comment(n *node) error {
	if len(s.deckSlide.Comments) >= maxComments {
		s.warn("slides with more than 1000 comments have lost the rest")
		return nil
	}
	text := clean(n.kid("text"))
	if body := n.kid("txBody"); body != nil {
		if t := s.body(body, "", 0, false); t != nil {
			text = t.Plain()
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		s.deckSlide.Comments = append(s.deckSlide.Comments, deck.Comment{
			Author: s.authors[n.attr("authorId")], At: clip(n.attr("dt")+n.attr("created"), 40), Text: text,
		})
	}
	if err := s.spend(text); err != nil {
		return err
	}
	for _, reply := range n.kid("replyLst").all("reply") {
		if err := s.comment(reply); err != nil {
			return err
		}
	}
	return nil
}
