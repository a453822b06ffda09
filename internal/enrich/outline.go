package enrich

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// What is kept of a document's headings.
const (
	maxEntries  = 500 // the deepest go first when there are more
	maxDepth    = 9   // levels
	maxHeadline = 300 // bytes of a heading
)

// Entry is a heading of a document.
type Entry struct {
	Level int    `json:"level"` // 1 is the top
	Text  string `json:"text"`
	Page  int    `json:"page,omitempty"`  // 1-based; zero: the format has none
	Chunk *int   `json:"chunk,omitempty"` // position of the chunk that it begins in
}

// Outline is a document's headings in reading order; what an entry is under is the last one before it of a
// smaller level.
type Outline struct {
	Entries []Entry
	Omitted int // headings that are left out: deeper ones, or beyond the limit
}

// outline collects the headings. Each is numbered, so that chunks, which come later, can be matched to it.
type outline struct {
	entries  []numbered
	seen     int // headings
	anchored int // of them, those whose chunk is known
	first    int // index into entries of the first that is not
	cutoff   int // levels from here on are left out; zero: none are yet
}

type numbered struct {
	Entry
	number int // from 0 among all headings
}

func (o *outline) add(b extract.Block) {
	text := strings.Join(strings.Fields(b.Text), " ")
	if b.Kind != extract.Heading || text == "" { // the chunker has no place for an empty one
		return
	}
	number := o.seen
	o.seen++
	level := min(max(b.Level, 1), maxDepth)
	if o.cutoff > 0 && level >= o.cutoff {
		return
	}
	if len(o.entries) == maxEntries && !o.prune(level) {
		return
	}
	o.entries = append(o.entries, numbered{Entry{Level: level, Text: shorten(text, maxHeadline), Page: b.Page}, number})
}

// prune makes room for one of a level where there is none: the deepest level goes, and is left out from here
// on. It is false when there is no room for the one itself. Of headings all of one level the first are kept.
func (o *outline) prune(level int) bool {
	deepest, top := 0, maxDepth
	for _, e := range o.entries {
		deepest, top = max(deepest, e.Level), min(top, e.Level)
	}
	o.cutoff = max(deepest, level)
	switch {
	case level > deepest:
		return false
	case deepest == top:
		o.cutoff = deepest
		if level == deepest {
			return false
		}
		o.keep(func(i int) bool { return i < maxEntries-1 })
		return true
	}
	o.keep(func(i int) bool { return o.entries[i].Level < deepest })
	return level < deepest
}

// keep leaves out the entries that are not to be kept.
func (o *outline) keep(wanted func(i int) bool) {
	kept, first := make([]numbered, 0, maxEntries), 0
	for i, e := range o.entries {
		if !wanted(i) {
			continue
		}
		if kept = append(kept, e); e.number < o.anchored {
			first = len(kept)
		}
	}
	o.entries, o.first = kept, first
}

// anchor notes that the next n headings begin in the chunk at the position.
func (o *outline) anchor(position, headings int) {
	o.anchored += headings
	for o.first < len(o.entries) && o.entries[o.first].number < o.anchored {
		o.entries[o.first].Chunk = new(position)
		o.first++
	}
}

func (o *outline) finish() Outline {
	out := Outline{Entries: make([]Entry, len(o.entries)), Omitted: o.seen - len(o.entries)}
	for i, e := range o.entries {
		out.Entries[i] = e.Entry
	}
	return out
}

// shorten cuts a text to at most size bytes and a mark.
func shorten(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return strings.TrimSpace(text[:size]) + "…"
}
