package enrich

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Limits of a document's headings.
const (
	maxEntries  = 500 // the deepest are dropped first
	maxDepth    = 9   // levels
	maxHeadline = 300 // bytes of a heading
)

// Entry is a heading of a document.
type Entry struct {
	Level int    `json:"level"` // 1 is the top
	Text  string `json:"text"`
	Page  int    `json:"page,omitempty"`  // 1-based; zero: the format has none
	Chunk *int   `json:"chunk,omitempty"` // position of the chunk in which it begins
}

// Outline is a document's headings in reading order. The parent of an entry is the last one before it with a
// smaller level.
type Outline struct {
	Entries []Entry
	Omitted int // dropped headings: deeper ones, or beyond the limit
}

// outline collects the headings. Each is numbered, so that later chunks can be matched to it.
type outline struct {
	entries  []numbered
	seen     int // headings
	anchored int // number of headings whose chunk is known
	first    int // index in entries of the first heading whose chunk is unknown
	cutoff   int // levels from here on are dropped; zero: none
}

type numbered struct {
	Entry
	number int // from 0 among all headings
}

func (o *outline) add(b extract.Block) {
	text := strings.Join(strings.Fields(b.Text), " ")
	if b.Kind != extract.Heading || text == "" { // the chunker ignores an empty one
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

// prune makes room for a heading of the level: it drops the deepest level, now and from here on. It returns
// false if there is no room for the heading itself. If all headings have one level, the first are kept.
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

// keep drops the entries for which wanted is false.
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

// anchor records that the next n headings begin in the chunk at the position.
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

// shorten cuts a text to at most size bytes and an ellipsis.
func shorten(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return strings.TrimSpace(text[:size]) + "…"
}
