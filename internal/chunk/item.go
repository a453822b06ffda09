package chunk

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// bond says how closely an item belongs to the one before it. Chunks are cut at the loosest bond that
// is in reach.
type bond int

const (
	loose bond = iota // between blocks
	row               // between list items, rows of a table, parts of code
	// within a paragraph (or, as it seems, between two, over a page's end) or a list, between lines of code
	sentence
	word  // within a sentence
	tight // a heading and what is under it, a caption and what it describes
)

// anchorBytes is how much of an item's end a cut behind it is anchored in: most rows of a table as a whole, and of a
// paragraph so little that the cut stays when the paragraph is edited further up, or falls into two at another
// page's end.
const anchorBytes = 96

// heading is the kind of an item that is a heading; it doesn't count in a chunk's kind.
const heading = "heading"

// item is the smallest part that isn't cut (unless it turns out too long, see assemble).
type item struct {
	text    string
	join    string // precedes it unless it begins a chunk
	lead    string // precedes it when it begins a chunk: the header of its table
	ahead   int    // tokens of lead
	tokens  int    // of text and join, at most
	hash    uint64 // of the end of text: what a cut behind the item is anchored in
	bond    bond
	kind    string       // Text, List, Table, Code or heading
	block   extract.Kind // that it is of
	section bool         // begins a subsection
	opens   bool         // begins a heading
	under   *section     // of a heading: its own
	page    int
	box     *extract.Box
}

// item makes an item of a block's text, tied to the one before it by what the blocks are.
func (c *Chunker) item(b extract.Block, kind, text string) item {
	i := item{text: text, join: "\n\n", kind: kind, block: b.Kind, under: c.section, page: b.Page, box: b.Box}
	if last := c.last(); last != nil {
		switch {
		case last.kind == heading,
			b.Kind == extract.Caption && captioned(last.block),
			captioned(b.Kind) && last.block == extract.Caption && last.bond != tight:
			i.bond = tight
		case b.Kind == extract.Paragraph && last.block == extract.Paragraph && b.Page > last.page:
			i.bond = sentence // it may go on with the one that the page before ends with
		}
	}
	return i
}

// captioned reports whether a caption may belong to a block.
func captioned(k extract.Kind) bool {
	return k == extract.TableKind || k == extract.Picture || k == extract.Code
}

// last is the item before the next one, nil after a boundary.
func (c *Chunker) last() *item {
	if len(c.items) == 0 {
		return nil
	}
	return &c.items[len(c.items)-1]
}

// context is the headings above a chunk that begins with the item: of a heading, what is above it,
// because it is part of the content itself.
func (i item) context() *section {
	if i.kind == heading {
		return i.under.parent
	}
	return i.under
}

// hash is the same on every machine and in every release.
func hash(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}

// pushAll pushes a block's text, in pieces when it has more than limit tokens. first is the bond of
// the first piece unless a heading precedes it.
func (c *Chunker) pushAll(b extract.Block, kind, text, join string, first bond, limit int) {
	start := true
	for piece, bond := range c.pieces(text, limit) {
		if c.err != nil { // of a block that may have megabytes to go
			return
		}
		i := c.item(b, kind, piece)
		if start {
			i.join, i.bond = join, max(i.bond, first)
		} else {
			i.join, i.bond = "", bond
		}
		c.push(i)
		start = false
	}
}

// paragraph takes paragraphs, captions and what is said of a picture.
func (c *Chunker) paragraph(b extract.Block) {
	c.pushAll(b, Text, tidy(b.Text), "\n\n", loose, min(c.config.Target, c.config.room()))
}

// listItem keeps a list together: its items are closer to each other than blocks are, and nested ones
// closer still.
func (c *Chunker) listItem(b extract.Block) {
	text := tidy(b.Text)
	if text == "" {
		return
	}
	join, bond := "\n\n", loose
	if last := c.last(); last != nil {
		switch {
		case last.kind == List && b.Level > 0:
			join, bond = "\n", sentence
		case last.kind == List:
			join, bond = "\n", row
		case strings.HasSuffix(last.text, ":"): // what introduces it
			bond = row
		}
	}
	marker := b.Marker
	if marker == "" {
		marker = "-"
	}
	indent := strings.Repeat("  ", min(max(0, b.Level), 8))
	c.pushAll(b, List, indent+marker+" "+text, join, bond, min(c.config.Target, c.config.room()))
}

// code is kept in one piece when that fits into a chunk; else its lines are.
func (c *Chunker) code(b extract.Block) {
	text := tidyCode(b.Text)
	if text == "" {
		return
	}
	if c.config.fits(text, c.config.room()) {
		c.push(c.item(b, Code, text))
		return
	}
	join, bond := "\n\n", loose
	for line := range strings.SplitSeq(text, "\n") {
		if c.err != nil {
			return
		}
		if line == "" {
			join, bond = join+"\n", row
			continue
		}
		c.pushAll(b, Code, line, join, bond, c.config.Max/4)
		join, bond = "\n", sentence
	}
}
