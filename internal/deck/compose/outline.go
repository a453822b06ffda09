package compose

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// section is a heading with what follows it.
type section struct {
	title   string
	heading extract.Block
	page    int
	blocks  []extract.Block
	within  []section // of the next level
}

// outline is the sections of a document.
type outline struct {
	lead     []extract.Block // before the first heading, and below the document's own title
	sections []section
	grouped  bool // sections with others within them open with a slide of their own
}

// outlineOf divides a document by its two highest levels of headings. Deeper headings stay among the text. The only
// heading of the highest level at the start is the document's title.
func outlineOf(blocks []extract.Block, title string) outline {
	top, second := levelsOf(blocks, title)
	var o outline
	first := true
	for _, b := range blocks {
		if b.Kind != extract.Heading || strings.TrimSpace(b.Text) == "" {
			o.put(b)
			continue
		}
		if first && strings.EqualFold(oneLine(b.Text), title) {
			first = false
			continue // it is on the title slide
		}
		first = false
		s := section{title: oneLine(b.Text), heading: b, page: b.Page}
		switch {
		case b.Level <= top || len(o.sections) == 0:
			o.sections = append(o.sections, s)
		case b.Level <= second:
			last := &o.sections[len(o.sections)-1]
			last.within = append(last.within, s)
		default:
			o.put(b)
		}
	}
	o.grouped = groups(o.sections)
	if !o.grouped {
		o.sections = flat(o.sections)
	}
	return o
}

// put adds a block to the section that is open.
func (o *outline) put(b extract.Block) {
	if len(o.sections) == 0 {
		o.lead = append(o.lead, b)
		return
	}
	last := &o.sections[len(o.sections)-1]
	if n := len(last.within); n > 0 {
		last = &last.within[n-1]
	}
	if last.page == 0 {
		last.page = b.Page
	}
	last.blocks = append(last.blocks, b)
}

// levelsOf are the two highest levels of headings, without that of the title.
func levelsOf(blocks []extract.Block, title string) (top, second int) {
	const none = 99
	top, second = none, none
	first := true
	for _, b := range blocks {
		if b.Kind != extract.Heading {
			continue
		}
		if first && strings.EqualFold(oneLine(b.Text), title) {
			first = false
			continue
		}
		first = false
		level := max(b.Level, 1)
		switch {
		case level < top:
			top, second = level, top
		case level > top && level < second:
			second = level
		}
	}
	return top, second
}

// groups reports whether the sections have enough others within them that an opening slide for each helps.
func groups(sections []section) bool {
	within := 0
	for _, s := range sections {
		within += len(s.within)
	}
	return len(sections) > 1 && within >= 2*len(sections) || len(sections) > 1 && within >= 6
}

// flat puts all sections on one level.
func flat(sections []section) []section {
	var out []section
	for _, s := range sections {
		within := s.within
		s.within = nil
		if len(s.blocks) > 0 || len(within) == 0 {
			out = append(out, s)
		} else if len(within) > 0 { // a heading alone leads the next one
			within[0].title = s.title + ": " + within[0].title
			within[0].heading = extract.Block{}
		}
		out = append(out, within...)
	}
	return out
}
