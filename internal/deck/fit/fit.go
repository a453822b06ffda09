// Package fit makes the content of slides fit: text and tables that are too large for their places are made smaller,
// within bounds, and what is too much even then goes to further slides. Nothing is cut off.
package fit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// How small text may become, as a part of its size.
const (
	leastBody  = 0.7  // a body; after that it is divided
	leastOther = 0.5  // text of shapes, and of slides that a person has laid out
	leastTitle = 0.3  // what can't be divided
	leastTable = 0.65 // a table; after that it is divided
	step       = 0.05
	maxParts   = 5000   // slides that one slide may become
	maxSlides  = 20_000 // slides that a deck may become; those that it has are not counted
)

// Result is a deck whose content fits.
type Result struct {
	Deck     *deck.Deck
	First    []int    // of each slide that was given: the first slide that it has become, from 1
	Warnings []string // of what does not fit even so
}

// Fit returns the deck with all its content fitting. d is not changed. Its only error is the context's cause.
func Fit(ctx context.Context, d *deck.Deck, face typeset.Face) (Result, error) {
	out := *d
	f := &fitter{deck: &out, set: typeset.Setter{Face: face, Deck: &out}, laid: d.Source != nil && d.Source.Method == "slides"}
	out.Slides = nil
	first := make([]int, len(d.Slides))
	for i := range d.Slides {
		first[i] = len(out.Slides) + 1
		parts, err := f.slide(ctx, d.Slides[i])
		if err != nil {
			return Result{}, err
		}
		out.Slides = append(out.Slides, parts...)
		f.added = len(out.Slides) - i - 1
	}
	if len(out.Slides) != len(d.Slides) {
		relink(out.Slides, first)
	}
	return Result{Deck: &out, First: first, Warnings: f.warnings}, nil
}

type fitter struct {
	deck  *deck.Deck
	set   typeset.Setter
	laid  bool // a person has laid out the slides
	added int  // slides, by dividing others

	warnings []string
}

// warn adds a warning, once.
func (f *fitter) warn(text string) {
	if !slices.Contains(f.warnings, text) {
		f.warnings = append(f.warnings, text)
	}
}

// slide returns the slides that a slide becomes.
func (f *fitter) slide(ctx context.Context, s deck.Slide) (parts []deck.Slide, err error) {
	layout := f.deck.Layout(s.Layout)
	if layout == nil && len(f.deck.Layouts) > 0 {
		layout = &f.deck.Layouts[0]
	}
	for rest := &s; rest != nil; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(parts) == maxParts || f.added+len(parts) >= maxSlides {
			parts = append(parts, *rest) // all of it, although it does not fit
			break
		}
		current := *rest
		current.Elements = append([]deck.Element(nil), rest.Elements...)
		rest = nil
		for i := range current.Elements {
			fitted, more := f.element(layout, current.Elements[i])
			current.Elements[i] = fitted
			if more != nil {
				if rest == nil {
					rest = f.continued(layout, s)
				}
				rest.Elements = append(rest.Elements, *more)
			}
		}
		parts = append(parts, current)
	}
	if len(parts) > 1 {
		for i := range parts {
			number(&parts[i], s.Title, i+1, len(parts))
		}
	}
	return parts, nil
}

// continued is a slide for the rest of another: its title, its footers, and no content.
func (f *fitter) continued(layout *deck.Layout, s deck.Slide) *deck.Slide {
	next := s
	next.Elements = nil
	for _, e := range s.Elements {
		switch e.Role {
		case deck.TitleRole, deck.FooterRole, deck.DateRole, deck.NumberRole:
			if e.Role == deck.TitleRole {
				fitted, _ := f.element(layout, e)
				e = fitted
			}
			next.Elements = append(next.Elements, e)
		case deck.SubtitleRole, deck.BodyRole:
		}
	}
	return &next
}

// number adds to the title which part of a slide this is.
func number(s *deck.Slide, title string, part, parts int) {
	suffix := fmt.Sprintf(" (%d/%d)", part, parts)
	s.Title = title + suffix
	e := s.TitleElement()
	if e == nil || len(e.Text.Paragraphs) == 0 {
		return
	}
	text := *e.Text
	text.Paragraphs = append([]deck.Paragraph(nil), text.Paragraphs...)
	last := &text.Paragraphs[len(text.Paragraphs)-1]
	runs := append([]deck.Run(nil), last.Runs...)
	if len(runs) > 0 {
		runs[len(runs)-1].Text += suffix
	} else {
		runs = []deck.Run{{Text: suffix}}
	}
	last.Runs = runs
	e.Text = &text
}

// relink changes links between slides to where the slides went.
func relink(slides []deck.Slide, first []int) {
	move := func(link string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(link, "#slide"))
		if !strings.HasPrefix(link, "#slide") || err != nil || n < 1 || n > len(first) {
			return link
		}
		return fmt.Sprintf("#slide%d", first[n-1])
	}
	for i := range slides {
		for k := range slides[i].Elements {
			e := &slides[i].Elements[k]
			e.Link = move(e.Link)
			if e.Text != nil && linked(e.Text) {
				text := relinked(*e.Text, move)
				e.Text = &text
			}
			if e.Table != nil {
				table := *e.Table
				table.Rows = slices.Clone(table.Rows)
				for r := range table.Rows {
					relinkRow(&table.Rows[r], move)
				}
				e.Table = &table
			}
		}
	}
}

func relinkRow(row *deck.Row, move func(string) string) {
	cloned := false
	for c := range row.Cells {
		if !linked(&row.Cells[c].Text) {
			continue
		}
		if !cloned {
			row.Cells, cloned = slices.Clone(row.Cells), true
		}
		row.Cells[c].Text = relinked(row.Cells[c].Text, move)
	}
}

// relinked is a text whose links were moved; the text itself is not changed.
func relinked(text deck.Text, move func(string) string) deck.Text {
	text.Paragraphs = slices.Clone(text.Paragraphs)
	for p := range text.Paragraphs {
		runs := slices.Clone(text.Paragraphs[p].Runs)
		for r := range runs {
			runs[r].Link = move(runs[r].Link)
		}
		text.Paragraphs[p].Runs = runs
	}
	return text
}

// linked reports whether a text links to a slide.
func linked(t *deck.Text) bool {
	return slices.ContainsFunc(t.Paragraphs, func(p deck.Paragraph) bool {
		return slices.ContainsFunc(p.Runs, func(r deck.Run) bool { return strings.HasPrefix(r.Link, "#slide") })
	})
}
