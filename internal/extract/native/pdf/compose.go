package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// composer makes blocks of pieces. It holds a paragraph back until it is known whether the next column or page
// continues it.
type composer struct {
	stats  *stats
	levels levels
	words  *vocabulary
	emit   func(extract.Block) error

	tail  *tail          // the last table
	open  *extract.Block // the last paragraph or list item
	from  *piece         // the last piece of open
	held  []extract.Block
	code  []line    // of open, if it is a listing
	title float64   // size of the document's title; zero: there was none yet
	begun bool      // the text below the title has begun
	marks []float64 // left edges of the markers of the list's open levels
	item  *piece    // the last item of the list; nil: marks is empty
}

// maxText limits a block that is joined from parts, in bytes.
const maxText = 32 << 10

// maxHeld limits the blocks between two parts of a paragraph: footnotes, captions of figures.
const maxHeld = 8

// add composes the next piece.
func (c *composer) add(p *piece) error {
	if p.table != nil {
		return c.addTable(p)
	}
	text := strings.TrimSpace(p.text(c.words.join))
	if text == "" {
		return nil
	}
	if err := c.flushTable(); err != nil {
		return err
	}
	b := c.block(p, text)
	b.Links = p.links(b)
	c.noteTitle(p, b.Kind == extract.Heading)
	return c.put(b, p)
}

// block returns the block of a piece.
func (c *composer) block(p *piece, text string) extract.Block {
	full := strings.TrimSpace(p.marker + " " + text)
	short := len(p.lines) <= 3 && p.marker != bulletMarker
	switch {
	case isCaption(text):
		return extract.Block{Kind: extract.Caption, Text: text}
	case c.isByline(p, full) && !c.levels.outline.names(full, p.page.number):
		return extract.Block{Kind: extract.Paragraph, Text: full}
	case short && c.levels.outline.names(full, p.page.number) || p.marker != bulletMarker &&
		isHeading(p, full, c.stats):
		if captionHead.MatchString(text) {
			return extract.Block{Kind: extract.Caption, Text: text}
		}
		c.stats.addHeading(p.look)
		return extract.Block{Kind: extract.Heading, Text: full, Level: c.levels.next(p.look, full)}
	case p.marker != "":
		return extract.Block{Kind: extract.ListItem, Text: text, Marker: p.marker, Level: c.depth(p)}
	case p.mono && !c.stats.mostlyMono() && !onlyAddresses(p.lines):
		return extract.Block{Kind: extract.Code, Text: code(p.lines)}
	}
	return extract.Block{Kind: extract.Paragraph, Text: text}
}

// depth returns how deep a list item is nested, from its marker's left edge. In another column, on another page or beside a
// picture, all edges may have moved.
func (c *composer) depth(p *piece) int {
	left := p.lines[0].left
	at := func(x float64) bool {
		return slices.ContainsFunc(c.marks, func(mark float64) bool { return abs(mark-x) <= 0.5*p.size })
	}
	if c.item != nil && !at(left) {
		moved := p.column.left - c.item.column.left
		if isNext(p.marker, c.item.marker) {
			moved = left - c.marks[len(c.marks)-1]
		}
		if at(left - moved) {
			for i := range c.marks {
				c.marks[i] += moved
			}
		}
	}
	c.item = p
	for len(c.marks) > 0 && c.marks[len(c.marks)-1] > left+0.5*p.size {
		c.marks = c.marks[:len(c.marks)-1]
	}
	if n := len(c.marks); n == 0 || c.marks[n-1] < left-0.5*p.size {
		c.marks = append(c.marks, left)
	}
	return len(c.marks) - 1
}

// put emits b, or holds it back.
func (c *composer) put(b extract.Block, p *piece) error {
	place := extract.Box{}
	place.Left, place.Top, place.Right, place.Bottom = fractions(p)
	b.Page, b.Box = p.page.number, &place
	flowing := b.Kind == extract.Paragraph || b.Kind == extract.ListItem
	goesOn := c.open != nil && len(c.open.Text) < maxText && b.Kind == extract.Paragraph && c.continues(p, b.Text)
	if b.Kind != extract.ListItem && !c.withinList(b, p, goesOn) {
		c.marks, c.item = nil, nil
	}
	if c.open != nil && len(c.open.Text) < maxText {
		if goesOn {
			head, rest := b.Text, ""
			if c.open.Page != b.Page {
				head, rest = firstSentence(b.Text)
			}
			joined := c.words.join(c.open.Text, head)
			c.open.Links = joinLinks(c.open.Links, extract.CutLinks(b.Links, 0, len(head)), len(joined)-len(head))
			c.open.Text, c.from = joined, p
			if rest == "" {
				return nil
			}
			// a separate block, so that it gets the right page
			b.Links = extract.CutLinks(b.Links, len(b.Text)-len(rest), len(b.Text))
			b.Text = rest
		}
		if c.open.Kind == extract.Code && b.Kind == extract.Code && !p.first && p.above < 2.5 {
			c.open.Text += "\n" + b.Text
			c.code = append(c.code, p.lines...)
			return nil
		}
		if len(c.held) < maxHeld && !endsSentence(c.open.Text) && c.open.Kind != extract.Code && c.aside(b, p) {
			c.held = append(c.held, b)
			return nil
		}
	}
	if err := c.flushText(); err != nil {
		return err
	}
	if flowing || b.Kind == extract.Code {
		c.open, c.from, c.code = &b, p, nil
		if b.Kind == extract.Code {
			c.code = slices.Clone(p.lines)
		}
		return nil
	}
	return c.send(b)
}

// withinList reports whether the list goes on below a block: it is the rest of an item on another page, or a footnote.
func (c *composer) withinList(b extract.Block, p *piece, goesOn bool) bool {
	return c.item != nil && b.Kind == extract.Paragraph && (goesOn && c.open.Kind == extract.ListItem || p.size < 0.93*c.item.size)
}

// sentenceEnd matches the end of a sentence before the start of another.
var sentenceEnd = pattern.New(`[.!?][”"’')»]*\s+[\p{Lu}„“"«(]|[。！？]`)

// firstSentence splits off the end of a sentence that began on another page. A text without such an end is not
// split.
func firstSentence(text string) (head, rest string) {
	at := sentenceEnd.FindStringIndex(text)
	if at == nil {
		return text, ""
	}
	end := at[1]
	if last, n := utf8.DecodeLastRuneInString(text[:end]); !strings.ContainsRune("。！？", last) {
		end -= n
	}
	return strings.TrimSpace(text[:end]), strings.TrimSpace(text[end:])
}

// continues reports whether p continues the open paragraph: in the next column or page, in the same size, in
// the middle of a sentence.
func (c *composer) continues(p *piece, text string) bool {
	if c.open.Kind == extract.Code || !p.first || !similar(p.size, c.from.size) || p.bold != c.from.bold ||
		endsSentence(c.open.Text) {
		return false
	}
	if p.page == c.from.page && p.column == c.from.column {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text)
	last := c.from.lines[len(c.from.lines)-1]
	switch {
	case unicode.IsLower(r):
		return true
	case strings.HasSuffix(c.open.Text, "-"), strings.HasSuffix(c.open.Text, ","):
		return true
	case unicode.IsUpper(r), !unicode.IsLetter(r):
		return false
	}
	// For scripts without capitals: the last line was full.
	return c.from.column.right-last.right < 2*c.from.size && len(c.from.lines) > 1
}

// aside reports whether b may appear between two parts of a paragraph.
func (c *composer) aside(b extract.Block, p *piece) bool {
	switch b.Kind {
	case extract.Caption, extract.TableKind:
		return true
	case extract.Paragraph, extract.ListItem:
		return p.size < 0.93*c.from.size
	}
	return false
}

// flush emits what was held back.
func (c *composer) flush() error {
	if err := c.flushTable(); err != nil {
		return err
	}
	return c.flushText()
}

// flushText emits the paragraph that was held back, and what is after it.
func (c *composer) flushText() error {
	if c.open == nil {
		return nil
	}
	if c.open.Kind == extract.Code {
		c.open.Text = code(c.code) // whose lines are indented from the leftmost of all
	}
	blocks := append([]extract.Block{*c.open}, c.held...)
	c.open, c.from, c.held, c.code = nil, nil, nil, nil
	for _, b := range blocks {
		if err := c.send(b); err != nil {
			return err
		}
	}
	return nil
}

func (c *composer) send(b extract.Block) error {
	b.Text = strings.TrimRight(b.Text, string(softHyphen))
	return c.emit(b)
}

func fractions(p *piece) (l, t, r, b float64) {
	f := p.page.original(p.box)
	return f.left, f.top, f.right, f.bottom
}
