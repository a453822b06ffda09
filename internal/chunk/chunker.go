package chunk

import (
	"errors"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// Defaults of Config, in tokens.
const (
	DefaultTarget = 400
	DefaultMax    = 800
	DefaultMin    = 50
	DefaultSmall  = 200
)

// levelMax is the deepest level of a heading; it limits the headings above a chunk.
const levelMax = 9

// smallestMax is the minimum of Max: below it there is no room for headings beside the text.
const smallestMax = 64

// Config is the configuration of a Chunker. Zero numbers take the default; contradictory numbers are adjusted
// to 64 ≤ Max, Min ≤ Target/2, Small ≤ Target ≤ Max.
type Config struct {
	Title  string // of the document, at the start of every chunk's embedded text; so a new title changes every key
	Target int    // desired tokens of a chunk; default DefaultTarget
	Max    int    // maximum tokens of a chunk, including title and headings; default DefaultMax
	Min    int    // a smaller chunk is merged with a neighbor where the structure allows it; default DefaultMin
	Small  int    // parts of a section that together have no more are one chunk; default DefaultSmall

	Counter    llm.Counter // counts the model's tokens; required
	Model      string      // part of the keys
	Dimensions int         // part of the keys
}

func (c Config) withDefaults() Config {
	if c.Target <= 0 {
		c.Target = DefaultTarget
	}
	if c.Max <= 0 {
		c.Max = DefaultMax
	}
	if c.Min <= 0 {
		c.Min = DefaultMin
	}
	if c.Small <= 0 {
		c.Small = DefaultSmall
	}
	c.Max = max(c.Max, smallestMax)
	c.Target = min(c.Target, c.Max)
	c.Min = min(c.Min, c.Target/2)
	c.Small = min(c.Small, c.Target)
	return c
}

// room returns how many tokens of an item fit into a chunk under any title and headings.
func (c Config) room() int { return c.Max - 2*c.contextMax() - 2 }

// longestToken is in bytes; no vocabulary in use has a longer one.
const longestToken = 256

// fits reports whether a text has at most limit tokens. It doesn't count those of a very long text, because
// megabytes take seconds.
func (c Config) fits(text string, limit int) bool {
	// a token is at least one byte
	return len(text) <= limit || len(text) <= limit*longestToken && c.Counter.Count(text) <= limit
}

// lastCount caches the count of the last text, because a text is checked to fit before it becomes an item.
type lastCount struct {
	llm.Counter
	text   string
	tokens int
}

func (l *lastCount) Count(text string) int {
	if text != l.text {
		l.text, l.tokens = text, l.Counter.Count(text)
	}
	return l.tokens
}

// contextMax returns the maximum tokens of the title, and of the headings, in a chunk.
func (c Config) contextMax() int { return c.Max / 8 }

// Chunker cuts one document. It holds about one chunk of text in addition to the current block. It is not safe
// for concurrent use.
type Chunker struct {
	config   Config
	emit     func(Chunk) error
	section  *section // of the next block
	header   *header  // of the last table, if it was cut at rows
	items    []item   // not yet in a chunk
	total    int      // their tokens
	sections int      // how many of them, except the first, begin a subsection
	position int      // of the next chunk
	err      error    // sticky: emit's, or errClosed
}

var errClosed = errors.New("chunk: Add after Close")

// New returns a Chunker that passes each chunk to emit, in order, as soon as it is complete. An error of emit
// ends the work: every later call returns it.
func New(config Config, emit func(Chunk) error) *Chunker {
	config = config.withDefaults()
	config.Counter = &lastCount{Counter: config.Counter}
	return &Chunker{config: config, emit: emit, section: newRoot(config)}
}

// Add adds the next block in reading order.
func (c *Chunker) Add(b extract.Block) error {
	switch b.Kind {
	case extract.Heading:
		c.heading(b)
	case extract.TableKind:
		c.table(b)
	case extract.Code:
		c.code(b)
	case extract.ListItem:
		c.listItem(b)
	default:
		c.paragraph(b)
	}
	return c.err
}

// Close cuts the remaining items. It must be called once after the last block.
func (c *Chunker) Close() error {
	if c.err != nil {
		return c.err
	}
	if c.flush(); c.err != nil {
		return c.err
	}
	c.err = errClosed
	return nil
}

// push adds an item and emits the chunks that are complete.
func (c *Chunker) push(i item) {
	if c.err != nil {
		return
	}
	i.tokens = c.config.Counter.Count(i.text) + 1 // plus one for what joins it to its neighbor
	i.hash = hash(i.text[max(0, len(i.text)-anchorBytes):])
	if i.section {
		i.section = len(c.items) > 0 && c.items[len(c.items)-1].kind != heading
	}
	if i.section {
		c.sections++
	}
	c.items = append(c.items, i)
	c.total += i.tokens
	if c.sections > 0 || c.total > c.config.room() {
		c.drain(false)
	}
}

// flush cuts all pending items; nothing that follows belongs to them.
func (c *Chunker) flush() { c.drain(true) }

func (c *Chunker) drain(final bool) {
	for c.err == nil && len(c.items) > 0 {
		n := c.cut(final)
		if n == 0 {
			return
		}
		c.err = c.assemble(c.items[:n])
		c.items = append(c.items[:0], c.items[n:]...)
		c.total, c.sections = 0, 0
		for k, i := range c.items {
			c.total += i.tokens
			if k > 0 && i.section {
				c.sections++
			}
		}
	}
}

// heading opens a section. A heading without one above it is a hard boundary: no chunk crosses it.
func (c *Chunker) heading(b extract.Block) {
	text := strings.ReplaceAll(tidy(b.Text), "\n", " ")
	if text == "" {
		return
	}
	level := min(max(1, b.Level), levelMax)
	above := c.section
	for above.parent != nil && above.level >= level {
		above = above.parent
	}
	if above.parent == nil {
		c.flush()
	}
	c.section = above.below(c.config, text, level)
	first := true
	for piece, bond := range c.pieces(strings.Repeat("#", min(level, 6))+" "+text, c.config.contextMax()) {
		i := c.item(b, heading, piece)
		i.section, i.opens = first, first
		if !first {
			i.join, i.bond = "", max(bond, tight)
		}
		c.push(i)
		first = false
	}
}
