package chunk

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// bond is how closely an item belongs to the previous one. Chunks are cut at the loosest bond within reach.
type bond int

const (
	loose bond = iota // between blocks
	row               // between list items, rows of a table, parts of code
	// within a paragraph (or apparently between two, across pages) or a list, between lines of code
	sentence
	word  // within a sentence
	tight // between a heading and its text, a caption and what it describes
)

// anchorBytes is how much of an item's end anchors a cut after it: most table rows completely, but little
// enough of a paragraph that the cut stays when the paragraph is edited further up, or is split at another page
// end.
const anchorBytes = 96

// heading is the kind of an item that is a heading. It doesn't count for a chunk's kind.
const heading = "heading"

// item is the smallest part that isn't cut, unless it is too long (see assemble).
type item struct {
	text    string
	join    string // precedes it unless it begins a chunk
	lead    string // precedes it if it begins a chunk: the header of its table
	first   string // replaces text if it begins a chunk: with the texts of cells from above; empty: text
	ahead   int    // tokens of lead
	tokens  int    // of text and join, at most
	hash    uint64 // of the end of text; anchors a cut after the item
	bond    bond
	kind    string       // Text, List, Table, Code or heading
	block   extract.Kind // of its block
	section bool         // begins a subsection
	opens   bool         // begins a heading
	under   *section     // for a heading: its own
	page    int
	box     *extract.Box
}

// item makes an item of a block's text, with the bond between the block and the previous item.
func (c *Chunker) item(b extract.Block, kind, text string) item {
	i := item{text: text, join: "\n\n", kind: kind, block: b.Kind, under: c.section, page: b.Page, box: b.Box}
	if last := c.last(); last != nil {
		switch {
		case last.kind == heading,
			b.Kind == extract.Caption && captioned(last.block),
			captioned(b.Kind) && last.block == extract.Caption && last.bond != tight:
			i.bond = tight
		case b.Kind == extract.Paragraph && last.block == extract.Paragraph && b.Page > last.page:
			i.bond = sentence // it may continue the last paragraph of the previous page
		}
	}
	return i
}

// captioned reports whether a caption may belong to a block.
func captioned(k extract.Kind) bool {
	return k == extract.TableKind || k == extract.Picture || k == extract.Code
}

// last returns the previous item, or nil after a boundary.
func (c *Chunker) last() *item {
	if len(c.items) == 0 {
		return nil
	}
	return &c.items[len(c.items)-1]
}

// context returns the headings above a chunk that begins with the item. A heading itself is part of the
// content, so for a heading it is its parent.
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

// pushAll pushes a block's text, in pieces if it has more than limit tokens. first is the bond of the first
// piece unless a heading precedes it.
func (c *Chunker) pushAll(b extract.Block, kind, text, join string, first bond, limit int) {
	start := true
	for piece, bond := range c.pieces(text, limit) {
		if c.err != nil { // the block may have megabytes left
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

// paragraph handles paragraphs, captions and descriptions of pictures.
func (c *Chunker) paragraph(b extract.Block) {
	c.pushAll(b, Text, tidy(b.Text), "\n\n", loose, min(c.config.Target, c.config.room()))
}

// listItem keeps a list together: its items have closer bonds than blocks, and nested ones closer still.
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
		case strings.HasSuffix(last.text, ":"): // the list's introduction
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

// code is kept in one piece if it fits into a chunk; otherwise it is cut at lines.
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
