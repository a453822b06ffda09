package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// cite says in a slide's notes, and in its provenance and that of its elements, which pages its content is from.
func cite(s *deck.Slide) {
	var pages []int
	for i := range s.Elements {
		e := &s.Elements[i]
		own := pagesOf(e)
		e.Source = ranging(e.Source, own)
		if e.Role == deck.TitleRole && len(s.Elements) > 3 { // its content says more
			continue
		}
		pages = append(pages, own...)
	}
	if s.Source == nil {
		return
	}
	s.Source = ranging(s.Source, pages)
	var notes []string
	switch {
	case s.Source.Page == 0:
		notes = append(notes, "Source: "+s.Source.Document)
	case s.Source.Last > 0:
		notes = append(notes, fmt.Sprintf("Source: %s, pages %d–%d", s.Source.Document, s.Source.Page, s.Source.Last))
	default:
		notes = append(notes, fmt.Sprintf("Source: %s, page %d", s.Source.Document, s.Source.Page))
	}
	if s.Notes != "" {
		notes = append(notes, s.Notes)
	}
	notes = append(notes, quotations(s)...)
	s.Notes = strings.Join(notes, "\n")
}

// pagesOf are the pages of an element's paragraphs, or else its own. The header of a table is repeated on each of its
// slides, and says nothing about their pages.
func pagesOf(e *deck.Element) (pages []int) {
	add := func(t *deck.Text) {
		for _, p := range t.Paragraphs {
			if p.Page > 0 {
				pages = append(pages, p.Page)
			}
		}
	}
	switch {
	case e.Text != nil:
		add(e.Text)
		return pages
	case e.Table != nil:
		for _, row := range e.Table.Rows[min(e.Table.Headers, len(e.Table.Rows)):] {
			for i := range row.Cells {
				add(&row.Cells[i].Text)
			}
		}
	}
	if len(pages) == 0 && e.Source != nil && e.Source.Page > 0 {
		pages = append(pages, e.Source.Page)
	}
	return pages
}

// ranging is a provenance from the first to the last of pages. Its area is on its own page only.
func ranging(from *deck.Provenance, pages []int) *deck.Provenance {
	if from == nil || len(pages) == 0 {
		return from
	}
	p := *from
	p.Page, p.Last = slices.Min(pages), slices.Max(pages)
	if p.Last == p.Page {
		p.Last = 0
	}
	if p.Page != from.Page {
		p.Area = nil
	}
	return &p
}

// quotations are the passages that the slide's bullets cite.
func quotations(s *deck.Slide) (all []string) {
	for _, e := range s.Elements {
		if e.Text == nil {
			continue
		}
		for _, p := range e.Text.Paragraphs {
			if text := "“" + p.Cites + "”"; p.Cites != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
