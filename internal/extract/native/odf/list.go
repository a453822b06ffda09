package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const maxLists = 1 << 16 // lists that a later one may continue

// formats maps values of style:num-format to the names of numeral.Format.
var formats = map[string]string{
	"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman",
}

// counter holds the current numbers of a list, by level.
type counter struct {
	counts  [maxLevel + 1]int
	running [maxLevel + 1]bool // whether a number of this level was used since its last restart
}

// list is an open text:list.
type list struct {
	style   *listStyle // nil: the paragraph's, or bullets
	numbers *counter
	level   int
}

// item is a text:list-item before its first text.
type item struct {
	list  *list
	start int // text:start-value; 0: unset
}

// list reads a text:list.
func (r *reader) list(start xml.StartElement, emit extract.Emit) error {
	l := r.openList(start)
	r.open = append(r.open, l)
	err := r.d.Children(func(start xml.StartElement) error {
		r.item = nil
		if start.Name.Local == "list-item" { // a text:list-header has no marker
			r.item = &item{list: l}
			if ooxml.Attr(start, "start-value") != "" {
				r.item.start = count(start, "start-value", maxNumber)
			}
		}
		return r.blocks(emit)
	}, nil)
	r.item = nil
	r.open = r.open[:len(r.open)-1]
	return err
}

// openList returns the state that a list continues: of the list around it, or of an earlier list.
func (r *reader) openList(start xml.StartElement) *list {
	name := ooxml.Attr(start, "style-name")
	l := &list{style: r.styles.lists[name], level: min(len(r.open), maxLevel)}
	if len(r.open) > 0 {
		outer := r.open[len(r.open)-1]
		l.numbers = outer.numbers
		if l.style == nil {
			l.style = outer.style
		}
		return l
	}
	if before := ooxml.Attr(start, "continue-list"); before != "" {
		l.numbers = r.lists["#"+before]
	} else if ooxml.Attr(start, "continue-numbering") == "true" {
		l.numbers = r.lists[name]
	}
	if l.numbers == nil {
		l.numbers = &counter{}
	}
	if len(r.lists) < maxLists {
		r.lists["#"+ooxml.Attr(start, "id")] = l.numbers
		r.lists[name] = l.numbers
	}
	return l
}

// marker counts the first paragraph of a list item. listed is false for any other paragraph.
func (r *reader) marker(paragraph string) (marker string, depth int, listed bool) {
	it := r.item
	if it == nil {
		return "", 0, false
	}
	r.item = nil
	style := it.list.style
	if style == nil {
		style = r.styles.lists[r.styles.listOf(paragraph)]
	}
	if style == nil {
		return "-", it.list.level, true
	}
	return style.next(it.list.numbers, it.list.level, it.start), it.list.level, true
}

// next counts an item and returns its marker: "-" for a bullet, "" for a level that shows none.
func (s *listStyle) next(c *counter, at, first int) string {
	for above := range at { // a skipped level counts as its first number
		if !c.running[above] {
			c.counts[above], c.running[above] = s.levels[above].start, true
		}
	}
	if !c.running[at] {
		c.counts[at], c.running[at] = s.levels[at].start-1, true
	}
	c.counts[at]++
	if first > 0 {
		c.counts[at] = first
	}
	clear(c.running[at+1:])
	lvl := s.levels[at]
	if lvl.bullet {
		return "-"
	}
	if lvl.format == "" {
		return ""
	}
	var numbers []string
	for i := max(at-lvl.show+1, 0); i <= at; i++ {
		if format := s.levels[i].format; format != "" {
			numbers = append(numbers, written(c.counts[i], format))
		}
	}
	return extract.CutMarker(strings.TrimSpace(lvl.prefix + strings.Join(numbers, ".") + lvl.suffix))
}

func written(n int, format string) string {
	if known, ok := formats[format]; ok {
		return numeral.Format(n, known)
	}
	return strconv.Itoa(n)
}
