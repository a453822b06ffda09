package markdown

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	maxNotes = 10_000 // whose references are read; those to more notes remain literal text
	maxLabel = 999    // bytes, as the parser of notes has it
)

var (
	// noteDefinition matches the first line of a note, which may be in a quotation or a list.
	noteDefinition = pattern.New(`^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[\^([^\]\[\n]+)\]:`)
	noteReference  = pattern.New(`^!?\[\^([^\]\[\n]+)\]`)
	notesKey       = parser.NewContextKey() //nolint:gochecknoglobals // it doesn't change
)

// notes numbers the notes of a file in the order of their first references.
type notes struct {
	numbers map[string]int // by label; zero: nothing referred to it so far
	last    int
}

// add adds a note that the file defines in any of its slices.
func (n *notes) add(label []byte) {
	if len(n.numbers) < maxNotes && len(label) <= maxLabel {
		n.numbers[string(label)] = 0
	}
}

func (n *notes) number(label []byte) int {
	number, known := n.numbers[string(label)]
	if number > 0 {
		return number
	}
	n.last++
	if known {
		n.numbers[string(label)] = n.last
	}
	return n.last
}

// footnotes extends a parser by notes. extension.Footnote would remove those to which nothing in the same slice refers.
type footnotes struct{}

func (footnotes) Extend(md goldmark.Markdown) { // with the priorities of extension.Footnote
	md.Parser().AddOptions(
		parser.WithBlockParsers(util.Prioritized(extension.NewFootnoteBlockParser(), 999)),
		parser.WithInlineParsers(util.Prioritized(noteParser{}, 101)),
	)
}

// noteParser parses references to notes, which may be in another slice.
type noteParser struct{}

func (noteParser) Trigger() []byte { return []byte{'!', '['} } // ![^1] is not a picture

func (noteParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	found := noteReference.FindSubmatch(line)
	all, ok := pc.Get(notesKey).(*notes)
	if found == nil || !ok {
		return nil
	}
	if _, known := all.numbers[string(found[1])]; !known {
		return nil
	}
	if line[0] == '!' {
		parent.AppendChild(parent, ast.NewTextSegment(segment.WithStop(segment.Start+1)))
	}
	block.Advance(len(found[0]))
	return east.NewFootnoteLink(all.number(found[1]))
}

// footnotes emits the notes that the slice defines, in the order of their numbers.
func (w *walker) footnotes() error {
	if w.notes == nil {
		return nil
	}
	var all []*east.Footnote
	for n := w.notes.FirstChild(); n != nil; n = n.NextSibling() {
		if note, ok := n.(*east.Footnote); ok {
			note.Index = w.known.number(note.Ref)
			all = append(all, note)
		}
	}
	slices.SortStableFunc(all, func(a, b *east.Footnote) int { return cmp.Compare(a.Index, b.Index) })
	for _, note := range all {
		if err := w.footnote(note); err != nil {
			return err
		}
	}
	return nil
}

// footnote writes the note's number before its first paragraph.
func (w *walker) footnote(n *east.Footnote) error {
	mark := "[" + strconv.Itoa(n.Index) + "] "
	inner := *w
	inner.emit = func(b extract.Block) error {
		if mark != "" && b.Table == nil {
			b.Text, b.Links, mark = mark+b.Text, extract.Shift(b.Links, len(mark)), ""
		}
		return w.emit(b)
	}
	return inner.blocks(n, 1)
}
