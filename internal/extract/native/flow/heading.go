package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/section"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	heldText = 256 << 10 // bytes of text that show how a document is set
	maxWords = 15        // of a heading
	maxLead  = 4         // words of a heading that ends with a colon; more of them lead in what follows
	maxBytes = 300       // of a heading
	maxRun   = 3         // headings without text between them
	maxSizes = 1000      // that are counted
	larger   = 1.15      // ratio to the running text from which a size sets a heading apart
	minBody  = 50        // bytes of a paragraph that can only be running text
)

// headings finds the headings of a document that has none by its styles: short paragraphs that are all bold, or larger
// than the running text, and text follows them. It holds blocks back until it knows how the running text is set.
type headings struct {
	emit    extract.Emit
	look    Look // of the next block
	held    []set
	bytes   int  // text of those
	settled bool // the running text is known
	styled  bool // the document has headings by its styles
	titled  bool
	sizes   map[float64]int // bytes of text by its size
	bold    int             // bytes of bold text
	all     int             // bytes of text
	body    float64         // size of the running text
	levels  section.Levels
}

// set is a block with its look.
type set struct {
	extract.Block
	look Look
	text string // as a heading
}

func (h *headings) add(b extract.Block) error {
	look := h.look
	h.look = Look{}
	if h.styled {
		return h.emit(b)
	}
	if b.Kind == extract.Heading {
		if !look.Title {
			h.styled = true
			if err := h.flush(); err != nil {
				return err
			}
			return h.emit(b)
		}
		h.titled = true
	}
	if look.Size > 0 && b.Kind != extract.Heading {
		h.count(len(b.Text), look)
	}
	h.held = append(h.held, set{Block: b, look: look})
	if h.settled {
		return h.settle(false)
	}
	if h.bytes += size(b); h.bytes < heldText {
		return nil
	}
	return h.settle(false)
}

// size returns roughly the bytes of a block.
func size(b extract.Block) int {
	n := len(b.Text) + 64
	if b.Table != nil {
		for _, row := range b.Table.Rows {
			for _, cell := range row {
				n += len(cell.Text) + 64
			}
		}
	}
	return n
}

func (h *headings) count(bytes int, look Look) {
	if h.sizes == nil {
		h.sizes = map[float64]int{}
	}
	h.all += bytes
	if look.Bold {
		h.bold += bytes
	}
	if len(h.sizes) >= maxSizes && h.sizes[look.Size] == 0 {
		return
	}
	if h.sizes[look.Size] += bytes; h.sizes[look.Size] > h.sizes[h.body] {
		h.body = look.Size
	}
}

// flush emits what is held as it is.
func (h *headings) flush() error {
	for _, s := range h.held {
		if err := h.emit(s.Block); err != nil {
			return err
		}
	}
	h.held = nil
	return nil
}

// settle emits the held blocks whose kind is known: all of them at the end, else those before the last that may be
// headings.
func (h *headings) settle(end bool) error {
	h.settled = true
	i := 0
	for i < len(h.held) {
		n := i
		for n < len(h.held) && n-i <= maxRun && h.mayHead(&h.held[n]) {
			n++
		}
		if n == len(h.held) && !end && n-i <= maxRun {
			break
		}
		heads := n > i && n-i <= maxRun && n < len(h.held) && follows(h.held[n-1], h.held[n].Block)
		for n = max(n, i+1); i < n; i++ {
			b := h.held[i].Block
			if heads {
				b = h.heading(h.held[i])
			}
			if err := h.emit(b); err != nil {
				return err
			}
		}
	}
	h.held = h.held[:copy(h.held, h.held[i:])]
	return nil
}

// heading makes a heading of a block.
func (h *headings) heading(s set) extract.Block {
	b := s.Block
	b.Links = extract.Shift(b.Links, len(s.text)-len(b.Text))
	b.Kind, b.Text, b.Marker = extract.Heading, s.text, ""
	b.Level = h.levels.Next(section.Look{Size: s.look.Size, Bold: s.look.Bold}, s.text, 0)
	if h.titled {
		b.Level = min(b.Level+1, 6)
	}
	return b
}

// notHead matches texts that are set like headings and are none: captions, addresses, results, lines to fill in.
var notHead = pattern.New(`^[^\p{L}\p{N}("'“‘«„¿¡§\[]|://|\bwww\.|\w@\w+\.\w|=|^(?i:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|tableau|figura|tabla) ?\d|[,;，；、–—-]$|\.\.\.\.|…\d|____`)

// mayHead reports whether a block is set like a heading.
func (h *headings) mayHead(s *set) bool {
	if s.look.Size == 0 || s.look.tabs || s.look.Title {
		return false
	}
	s.text = s.Text
	switch {
	case s.Kind == extract.ListItem && s.Marker != "-":
		s.text = s.Marker + " " + s.Text
	case s.Kind != extract.Paragraph:
		return false
	}
	if len(s.text) > maxBytes || strings.Count(s.text, "\n") > 1 || letters(s.Text) < 3 || notHead.MatchString(s.Text) ||
		isLink(s.Block) {
		return false
	}
	words := len(strings.Fields(s.text))
	if words > maxWords || words > maxLead && strings.HasSuffix(s.Text, ":") || endsSentence(s.Text) && !section.Numbered(s.text) {
		return false
	}
	if s.look.Size >= larger*h.body {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s.Text)
	return s.look.Bold && s.look.Size >= h.body && 2*h.bold < h.all && !unicode.IsLower(first)
}

// isLink reports whether all of a block's text is a link.
func isLink(b extract.Block) bool {
	return len(b.Links) == 1 && b.Links[0].End-b.Links[0].Start == len(b.Text)
}

// endsSentence reports whether a text of several words ends as a sentence does.
func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `"'”’»)]`))
	return strings.ContainsRune(".!。！", last) && len(strings.Fields(text)) > 6
}

// follows reports whether b, which comes after a block that may be a heading, is what a heading is for. After an item of
// a list, a short one is another item.
func follows(head set, b extract.Block) bool {
	switch b.Kind {
	case extract.TableKind, extract.Code:
		return true
	case extract.ListItem:
		return head.Kind != extract.ListItem || len(b.Text) >= minBody
	case extract.Paragraph:
		return len(b.Text) >= minBody
	}
	return false
}

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
