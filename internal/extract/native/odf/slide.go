package odf

import (
	"encoding/xml"
	"slices"
	"strconv"
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

// object is what is drawn on a slide.
type object struct {
	blocks []extract.Block
	top    float64 // of the object, in millimetres
	placed bool    // top is known
	size   int     // its largest font, in tenths of a point; 0: unknown
	silent bool    // it is drawn, and has no text: a picture, most often
}

// slide reads a draw:page: its title first, wherever it is drawn, and the speaker notes last.
func (r *reader) slide() error {
	var objects []object
	var notes []extract.Block
	err := r.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "notes" {
			o, err := r.drawn(start)
			objects = append(objects, o)
			return err
		}
		inner, err := r.collect(func(emit extract.Emit) error {
			return r.d.Children(func(start xml.StartElement) error { return r.placed(start, emit) }, nil)
		})
		notes = append(notes, inner...)
		return err
	}, nil)
	if err != nil {
		return err
	}
	for _, b := range append(slideBlocks(objects, r.deck), notes...) {
		if err := r.top(b); err != nil {
			return err
		}
	}
	return nil
}

// drawn reads an object on a slide.
func (r *reader) drawn(start xml.StartElement) (o object, err error) {
	r.size = 0
	o.top, o.placed = millimetres(ooxml.Attr(start, "y"))
	o.blocks, err = r.collect(func(emit extract.Emit) error { return r.placed(start, emit) })
	o.silent = o.placed && len(o.blocks) == 0 && ooxml.Attr(start, "placeholder") != "true" && start.Name.Local == "frame"
	o.size = r.size
	if o.size == 0 {
		for _, family := range []string{"presentation", "graphic"} {
			o.size = max(o.size, r.styles.size(family, ooxml.Attr(start, "style-name")))
		}
	}
	return o, err
}

// slideBlocks returns the blocks of a slide, beginning with its title: the one that the layout names, or else, in a
// deck, the text that looks like one.
func slideBlocks(objects []object, deck bool) []extract.Block {
	title := slices.IndexFunc(objects, func(o object) bool {
		return slices.ContainsFunc(o.blocks, func(b extract.Block) bool { return b.Kind == extract.Heading && b.Level == 1 })
	})
	if title < 0 && deck {
		if title = likeTitle(objects); title >= 0 {
			b := &objects[title].blocks[0]
			b.Kind, b.Level = extract.Heading, 1
		}
	}
	var blocks []extract.Block
	for _, o := range objects {
		blocks = append(blocks, o.blocks...)
	}
	at := slices.IndexFunc(blocks, func(b extract.Block) bool { return b.Kind == extract.Heading && b.Level == 1 })
	if at > 0 {
		heading := blocks[at]
		blocks = slices.Insert(slices.Delete(blocks, at, at+1), 0, heading)
	}
	return blocks
}

const maxTitle = 120 // bytes

// likeTitle returns the object that is one short line above all others, pictures too, in no smaller a font than theirs,
// and larger if the slide has only such lines; or -1.
func likeTitle(objects []object) int {
	best := -1
	for i, o := range objects {
		if len(o.blocks) > 0 && o.placed && (best < 0 || o.top < objects[best].top) {
			best = i
		}
	}
	if best < 0 {
		return -1
	}
	title := objects[best]
	if b := title.blocks[0]; len(title.blocks) != 1 || b.Kind != extract.Paragraph || len(b.Text) > maxTitle ||
		strings.Contains(b.Text, "\n") {
		return -1
	}
	others, larger := 0, true
	for i, o := range objects {
		if o.silent && o.top > title.top && !strings.HasSuffix(title.blocks[0].Text, ".") {
			others++
		}
		if i == best || len(o.blocks) == 0 {
			continue
		}
		others++
		if o.placed && o.top <= title.top || o.size > title.size {
			return -1
		}
		larger = larger && o.size < title.size
	}
	if others == 0 || !larger && strings.HasSuffix(title.blocks[0].Text, ".") {
		return -1
	}
	return best
}

// millimetres parses a length (ISO/IEC 26300 part 3, 18.3.18).
func millimetres(length string) (float64, bool) {
	for unit, factor := range map[string]float64{"mm": 1, "cm": 10, "in": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6} {
		if number, ok := strings.CutSuffix(length, unit); ok {
			n, err := strconv.ParseFloat(number, 64)
			return n * factor, err == nil
		}
	}
	return 0, false
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
