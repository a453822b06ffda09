package symbol

import "strings"

// Line is the text of a paragraph, parts of which are set in superscript. Such a part may come in several pieces, even one
// for each character; it rises as a whole (Raise), once other text or a reader of the text follows it.
type Line struct {
	text  strings.Builder
	super strings.Builder // set in superscript, after text
	stays bool            // text ends with a superscript that did not rise, nor does what continues it
}

// Raise adds a piece of text that is set in superscript.
func (l *Line) Raise(piece string) { l.super.WriteString(piece) }

// WriteString adds other text.
func (l *Line) WriteString(text string) {
	if text != "" {
		l.settle()
		l.text.WriteString(text)
		l.stays = false
	}
}

// Len returns the length of the text so far in bytes, which is final.
func (l *Line) Len() int {
	l.settle()
	return l.text.Len()
}

// String returns the text so far.
func (l *Line) String() string {
	l.settle()
	return l.text.String()
}

// Reset empties the line.
func (l *Line) Reset() { *l = Line{} }

func (l *Line) settle() {
	piece := l.super.String()
	if piece == "" {
		return
	}
	l.super.Reset()
	if !l.stays {
		raised := Raise(l.text.String(), piece)
		l.stays, piece = raised == piece, raised
	}
	l.text.WriteString(piece)
}
