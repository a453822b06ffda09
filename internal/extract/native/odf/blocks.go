package odf

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

const maxHeading = 6

// paragraph is a text:p or a text:h being read.
type paragraph struct {
	text  symbol.Line
	links extract.Linker
	blank bool            // a space is due before the next character
	code  bool            // tabs are kept
	after int             // where the last formula ends; 0: there is none
	mute  int             // number of open elements with hidden text
	boxes []extract.Block // frames anchored in it
	font  font            // of the text being read
	above bool            // the text being read is a superscript
	look  flow.Look
}

// font is how text is set.
type font struct {
	size int // tenths of a point; 0: unknown
	bold bool
	mark bool // superscript or subscript
}

// blocks reads the children of an element that holds blocks and passes each block to emit.
func (r *reader) blocks(emit extract.Emit) error {
	return r.d.Children(func(start xml.StartElement) error { return r.block(start, emit) }, nil)
}

// block reads one element. Only paragraphs yield text, so names and positions in drawings are skipped.
func (r *reader) block(start xml.StartElement, emit extract.Emit) error {
	switch start.Name.Local {
	case "p", "h":
		return r.paragraph(start, emit)
	case "list":
		return r.list(start, emit)
	case "table":
		return r.table(start, emit)
	case "object":
		return r.object(start, emit)
	case "math":
		return r.equation(start, emit)
	case "annotation":
		return r.comment()
	case "section":
		if ooxml.Attr(start, "display") == "none" {
			return r.d.Skip()
		}
	// Deleted text, forms and speaker notes are not text of the document.
	case "tracked-changes", "forms", "notes", "event-listeners", "settings":
		return r.d.Skip()
	}
	if r.shapes != nil && isShape(start.Name.Local) {
		return r.shape(start)
	}
	return r.blocks(emit) // sections, indexes, frames, text boxes, shapes, groups …
}

func isShape(local string) bool {
	switch local {
	case "frame", "g", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path", "connector",
		"caption":
		return true
	}
	return false
}

// shape keeps the text of a drawing that is anchored in a cell of a sheet.
func (r *reader) shape(start xml.StartElement) error {
	shapes := r.shapes
	r.shapes = nil
	blocks, err := r.collect(func(emit extract.Emit) error { return r.block(start, emit) })
	r.shapes = shapes
	*shapes = append(*shapes, blocks...)
	return err
}

func (r *reader) paragraph(start xml.StartElement, emit extract.Emit) error {
	style := ooxml.Attr(start, "style-name")
	p := &paragraph{code: r.styles.is(style, "Preformatted_20_Text", "HTML_20_Preformatted", "Source_20_Code", "Code")}
	if r.styles.hidden("paragraph", style) {
		p.mute++
	}
	r.size = max(r.size, r.styles.size("paragraph", style))
	if r.main && r.out.Looks() {
		p.font = r.styles.font("paragraph", style, font{size: r.styles.standard})
		p.look.Title = r.styles.is(style, "Title")
	}
	// Frames within are read first and are not part of the paragraph's list.
	waiting := r.item
	r.item = nil
	if err := r.inline(p); err != nil {
		return err
	}
	r.item = waiting
	for i, b := range append(r.finish(p, start, style), p.boxes...) {
		if r.main && i == 0 {
			r.out.Set(p.look)
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// finish returns the paragraph's block, or nothing if it has no text. An empty paragraph in a list still
// counts.
func (r *reader) finish(p *paragraph, start xml.StartElement, style string) []extract.Block {
	marker, depth, listed := r.marker(style)
	text, links := extract.Trim(p.text.String(), p.links.Take(p.text.Len()))
	if text == "" {
		return nil
	}
	b := extract.Block{Kind: extract.Paragraph, Text: text, Links: links}
	switch {
	case start.Name.Local == "h":
		r.heading(&b, start, marker, listed)
	case r.styles.is(style, "Title"):
		b.Kind, b.Level = extract.Heading, 1
		r.titled = true
		if r.title == "" {
			r.title = text
		}
	case listed && marker != "":
		b.Kind, b.Level, b.Marker = extract.ListItem, depth, marker
	case r.styles.is(style, "Caption", "Illustration", "Figure", "Table", "Drawing"):
		b.Kind = extract.Caption
	case p.code:
		b.Kind, b.Text = extract.Code, strings.TrimRight(p.text.String(), " \t\n")
	}
	return []extract.Block{b}
}

// heading makes b a heading with its number: that of its list, or of the outline.
func (r *reader) heading(b *extract.Block, start xml.StartElement, marker string, listed bool) {
	level := count(start, "outline-level", maxLevel+1)
	if !listed && r.styles.outline != nil && ooxml.Attr(start, "is-list-header") != "true" {
		first := 0
		if ooxml.Attr(start, "restart-numbering") == "true" {
			first = count(start, "start-value", maxNumber)
		}
		marker = r.styles.outline.next(&r.chapters, level-1, first)
	}
	if marker != "" && marker != "-" && !strings.HasPrefix(b.Text, marker) {
		b.Text, b.Links = marker+" "+b.Text, extract.Shift(b.Links, len(marker)+1)
	}
	if r.titled {
		level++
	}
	b.Kind, b.Level = extract.Heading, min(level, maxHeading)
}
