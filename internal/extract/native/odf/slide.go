package odf

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// slides reads an office:presentation or an office:drawing: a page per draw:page.
func (r *reader) slides() error {
	return r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "page" {
			return r.d.Skip()
		}
		if r.page++; r.page > r.maxPages {
			return taskerr.Errorf(taskerr.QuotaExceeded,
				"the presentation has more than %d slides: split it into smaller files", r.maxPages)
		}
		return r.slide()
	}, nil)
}

// slide reads a draw:page: its title first, wherever it is drawn, and the speaker notes last.
func (r *reader) slide() error {
	var notes []extract.Block
	blocks, err := r.collect(func(emit extract.Emit) error {
		return r.d.Children(func(start xml.StartElement) error {
			if start.Name.Local != "notes" {
				return r.placed(start, emit)
			}
			inner, err := r.collect(func(emit extract.Emit) error {
				return r.d.Children(func(start xml.StartElement) error { return r.placed(start, emit) }, nil)
			})
			notes = append(notes, inner...)
			return err
		}, nil)
	})
	if err != nil {
		return err
	}
	title := slices.IndexFunc(blocks, func(b extract.Block) bool { return b.Kind == extract.Heading && b.Level == 1 })
	if title > 0 {
		heading := blocks[title]
		blocks = slices.Insert(slices.Delete(blocks, title, title+1), 0, heading)
	}
	for _, b := range append(blocks, notes...) {
		if err := r.top(b); err != nil {
			return err
		}
	}
	return nil
}

// placed reads one object on a slide. Its class makes it the title, the outline, or an object that all slides
// share.
func (r *reader) placed(start xml.StartElement, emit extract.Emit) error {
	if ooxml.Attr(start, "placeholder") == "true" {
		return r.d.Skip() // an empty placeholder
	}
	switch ooxml.Attr(start, "class") {
	case "header", "footer", "date-time", "page-number", "page", "handout":
		return r.d.Skip()
	case "title":
		blocks, err := r.collect(r.blocks)
		text := strings.Join(strings.Fields(extract.CellText(blocks)), " ")
		if err != nil || text == "" {
			return err
		}
		return emit(extract.Block{Kind: extract.Heading, Level: 1, Text: text})
	}
	return r.block(start, emit)
}
