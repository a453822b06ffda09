// Package flow orders the blocks of word processor documents: consecutive lines of code become one block, those in the
// letters of a typewriter too if they read like code, notes follow the block that refers to them, paragraphs with a typed
// bullet are list items, and in a document without headings by its styles, paragraphs that are set like headings are ones.
package flow

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Writer writes the flow of one document. Call Flush at the end.
type Writer struct {
	emit  extract.Emit
	code  *line           // consecutive lines of code, not emitted yet; its text is in lines
	lines []string        // of code
	notes []extract.Block // that the block refers to which comes next
	cited int             // notes referred to so far
	limit int             // of characters, for the error
	bytes int             // remaining budget for text
	look  Look            // of the next block
	heads headings

	typed  []line // consecutive paragraphs in the letters of a typewriter, not emitted yet
	typing int    // bytes of those
}

// New returns a Writer to emit for a document of at most limit characters.
func New(emit extract.Emit, limit int) *Writer {
	w := &Writer{limit: limit, bytes: 4 * limit, heads: headings{emit: emit}}
	w.emit = Items(w.heads.add)
	return w
}

// Looks reports whether looks are still needed: no heading by a style came yet.
func (w *Writer) Looks() bool { return !w.heads.styled }

// Set tells how the next block is set.
func (w *Writer) Set(look Look) { w.look = look }

// Block emits a block of the main text and the notes that it refers to.
func (w *Writer) Block(b extract.Block) error {
	l := line{b, w.look, w.notes}
	w.look, w.notes = Look{}, nil
	if l.look.Typed != "" && b.Kind == extract.Paragraph {
		return w.hold(l)
	}
	if err := w.flushTyped(); err != nil {
		return err
	}
	return w.block(l)
}

func (w *Writer) block(l line) error {
	if l.Kind == extract.Code && w.code != nil && w.code.Page == l.Page {
		w.lines = append(w.lines, l.Text)
		w.code.notes = append(w.code.notes, l.notes...)
		return nil
	}
	if err := w.flushCode(); err != nil {
		return err
	}
	if l.Kind == extract.Code {
		w.code, w.lines = &l, []string{l.Text}
		return nil
	}
	w.heads.look = l.look
	return w.emitAll(append([]extract.Block{l.Block}, l.notes...))
}

// Cite keeps a note until the current block is emitted, and returns its reference mark.
func (w *Writer) Cite(note extract.Block) string {
	w.cited++
	mark := "[" + strconv.Itoa(w.cited) + "]"
	note.Kind, note.Text = extract.Paragraph, mark+" "+note.Text
	note.Links = extract.Shift(note.Links, len(mark)+1)
	w.notes = append(w.notes, note)
	return mark
}

// Follow keeps a block, such as a comment, until the current block is emitted.
func (w *Writer) Follow(b extract.Block) { w.notes = append(w.notes, b) }

// Spend counts bytes of text as soon as they are held in memory, at most four per character. Its error is
// extract.TooManyCharacters.
func (w *Writer) Spend(bytes int) error {
	if w.bytes -= bytes; w.bytes < 0 {
		return extract.TooManyCharacters(w.limit)
	}
	return nil
}

// Flush emits the blocks that are held back.
func (w *Writer) Flush() error {
	if err := w.flushTyped(); err != nil {
		return err
	}
	if err := w.flushCode(); err != nil {
		return err
	}
	notes := w.notes
	w.notes = nil
	if err := w.emitAll(notes); err != nil {
		return err
	}
	return w.heads.settle(true)
}

func (w *Writer) flushCode() error {
	if w.code == nil {
		return nil
	}
	code := *w.code
	code.Text = strings.Join(w.lines, "\n")
	w.code, w.lines = nil, nil
	return w.emitAll(append([]extract.Block{code.Block}, code.notes...))
}

func (w *Writer) emitAll(blocks []extract.Block) error {
	for _, b := range blocks {
		if err := w.emit(b); err != nil {
			return err
		}
	}
	return nil
}
