package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Look is how a paragraph of the main text is set. The zero value is one of which that isn't known.
type Look struct {
	Size  float64 // points, of its smallest characters; zero: unknown
	Bold  bool    // all of it
	Title bool    // it is a heading because it is the document's title
	Typed string  // all its text as it is, if that is in the letters of a typewriter
	tabs  bool    // its text has tabs within, as the lines of a form have
	tab   bool    // a tab within, unless no text follows
}

// Font adds text of a size in points, zero if that is unknown.
func (l *Look) Font(size float64, bold bool) {
	if l.Size == 0 {
		l.Bold, l.Size = bold, size
		return
	}
	l.Bold, l.Size = l.Bold && bold, min(l.Size, size)
}

// Text adds text after a tab.
func (l *Look) Text() { l.tabs = l.tabs || l.tab }

// Tab adds a tab after the paragraph's text so far. One between a number and its text is as a space.
func (l *Look) Tab(text string) {
	text = strings.Trim(text, " ().:")
	last, _ := utf8.DecodeLastRuneInString(text)
	number := unicode.IsDigit(last) || len(text) <= 1 || len(text) <= maxRoman && text == strings.ToUpper(text)
	l.tab = l.tab || !number
}

// maxRoman is the letters of a Roman number as that of a section.
const maxRoman = 4
