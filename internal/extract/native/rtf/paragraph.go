package rtf

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
	symbols "github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

const (
	maxLevel   = 8  // lists and outlines have levels 0-8
	maxNesting = 20 // nested tables
	maxStories = 8  // stories within each other; Word has no note in a note
	maxHeading = 6
	bullets    = 23 // \levelnfc of bullets
)

// properties are a paragraph's properties.
type properties struct {
	style   int
	outline int // -1: unset, as the style
	list    int // \ls; 0: none
	level   int
	depth   int // nesting of the tables around it
}

var plain = properties{outline: -1}

// story is a separate flow of text: the document's, a note's or a text box's.
type story struct {
	emit    extract.Emit
	hold    extract.Emit // counts a block that is held
	text    symbols.Line // of the current paragraph
	links   extract.Linker
	label   string
	labeled bool
	boxes   []extract.Block // text boxes anchored in the paragraph
	tables  []*table        // open tables, outermost first
	main    bool            // it is the document's
	depth   int             // stories around it
	look    flow.Look       // of the paragraph
	joined  *unended        // the paragraph has the text of this one
}

// unended is a paragraph outside of tables whose end is deleted. Its text begins the next one, unless that is in a table.
type unended struct {
	properties
	label   string
	labeled bool
}

// endParagraph emits the paragraph to its table cell or to the story.
func (r *reader) endParagraph() error {
	s := r.story
	blocks := append(r.paragraph(), s.boxes...)
	look := s.look
	look.Title = r.styles[r.par.style].name == "title"
	s.boxes, s.label, s.labeled, s.look, s.joined = nil, "", false, flow.Look{}, nil
	s.text.Reset()
	if len(blocks) == 0 && r.par.depth == 0 {
		return s.closeTables(0)
	}
	if err := s.closeTables(r.par.depth); err != nil {
		return err
	}
	for i, b := range blocks {
		if s.main && i == 0 && r.par.depth == 0 {
			r.out.Set(look)
		}
		if err := s.to(r.par.depth)(b); err != nil {
			return err
		}
	}
	return nil
}

// leaveUnended passes over the deleted end of a paragraph: what is left of it begins the next one.
func (s *story) leaveUnended(par properties) {
	if par.depth == 0 && strings.TrimSpace(s.text.String()) != "" {
		s.joined = &unended{par, s.label, s.labeled}
	}
	s.label, s.labeled = "", false
}

// endBeforeTable ends an unended paragraph because a table follows.
func (r *reader) endBeforeTable() error {
	s := r.story
	if r.to != body || s.joined == nil {
		return nil
	}
	next := unended{r.par, s.label, s.labeled}
	r.par, s.label, s.labeled = s.joined.properties, s.joined.label, s.joined.labeled
	err := r.endParagraph()
	r.par, s.label, s.labeled = next.properties, next.label, next.labeled
	return err
}

// paragraph returns the paragraph's block, or nothing if it has no text.
func (r *reader) paragraph() []extract.Block {
	text, links := extract.Trim(r.story.text.String(), r.story.links.Take(r.story.text.Len()))
	if text == "" {
		return nil
	}
	st := r.styles[r.par.style]
	outline := st.outline - 1
	if r.par.outline >= 0 {
		outline = r.par.outline
	}
	marker, listed := r.marker()
	b := extract.Block{Kind: extract.Paragraph, Text: text, Links: links}
	switch {
	case st.name == "title":
		b.Kind, b.Level = extract.Heading, 1
		r.titled = true
		if r.title == "" {
			r.title = text
		}
	case outline >= 0 && outline <= maxLevel:
		b.Kind, b.Level = extract.Heading, outline+1
		if r.titled {
			b.Level++
		}
		b.Level = min(b.Level, maxHeading)
		if listed && marker != "-" {
			b.Text, b.Links = marker+" "+text, extract.Shift(links, len(marker)+1)
		}
	case listed:
		b.Kind, b.Level, b.Marker = extract.ListItem, r.par.level, marker
	case st.name == "caption":
		b.Kind = extract.Caption
	case slices.Contains([]string{"html preformatted", "preformatted text", "source code", "code"}, st.name):
		b.Kind, b.Text = extract.Code, strings.TrimRight(r.story.text.String(), " \n")
	}
	return []extract.Block{b}
}

// marker returns the paragraph's label from the file, or else from counting its list.
func (r *reader) marker() (marker string, listed bool) {
	if r.story.labeled {
		marker = r.story.label
		if marker == "" {
			return "", false
		}
		if marker == "o" || !strings.ContainsFunc(marker,
			func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			marker = "-"
		}
		return marker, true
	}
	if r.par.list == 0 {
		return "", false
	}
	u := r.uses[r.par.list]
	if u == nil {
		return "", false
	}
	level := r.par.level
	u.counts[level]++
	clear(u.counts[level+1:])
	return u.list.marker(level, u.counts[level])
}

// marker formats the nth number of a level.
func (l *list) marker(level, nth int) (marker string, listed bool) {
	if l.formats[level] == bullets {
		return "-", true
	}
	names := map[int]string{
		0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 5: "ordinal",
		22: "decimalZero",
	}
	name, ok := names[l.formats[level]]
	if !ok {
		return "", false
	}
	first := l.starts[level]
	if first == 0 {
		first = 1
	}
	return numeral.Format(first-1+nth, name) + ".", true
}

// within reads the rest of the group as a separate story and passes its blocks to then. Each open story can hold tables, so
// the text of a deeper one than maxStories belongs to the story around it.
func (r *reader) within(then func([]extract.Block) error) {
	outer := r.story
	if outer.depth >= maxStories {
		r.to = body
		return
	}
	var blocks []extract.Block
	r.story = &story{depth: outer.depth + 1, hold: r.hold, emit: func(b extract.Block) error {
		blocks = append(blocks, b)
		return r.hold(b)
	}}
	r.to, r.par, r.hidden, r.gone = body, plain, false, false
	r.end = func() error {
		if err := r.endParagraph(); err != nil {
			return err
		}
		if err := r.story.closeTables(0); err != nil {
			return err
		}
		r.story = outer
		return then(blocks)
	}
}

// note reads a \footnote at its reference. Its text follows the block.
func (r *reader) note() {
	hidden := r.hidden || r.gone
	r.within(func(blocks []extract.Block) error {
		note := extract.CellOf(blocks)
		if note.Text == "" || hidden {
			return nil
		}
		mark := r.out.Cite(extract.Block{Text: note.Text, Links: note.Links})
		r.story.text.WriteString(mark)
		return r.out.Spend(len(mark))
	})
}

// textBox reads the text of a drawing, which follows the paragraph that anchors it.
func (r *reader) textBox() {
	if r.to != shape {
		return
	}
	r.within(func(blocks []extract.Block) error {
		r.story.boxes = append(r.story.boxes, blocks...)
		return nil
	})
}
