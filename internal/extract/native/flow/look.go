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

	looked, begin, end int // of the text at its last tab: its length, and where it is without the signs around it
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
	if l.tab {
		return
	}
	text = l.trim(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	number := unicode.IsDigit(last) || len(text) <= 1 || len(text) <= maxRoman && text == strings.ToUpper(text)
	l.tab = !number
}

// trim returns the text without the signs around it. It looks only at what was added since the last time: a paragraph may have
// any number of tabs.
func (l *Look) trim(text string) string {
	const signs = " ().:"
	added := text[min(l.looked, len(text)):]
	if l.begin >= l.end { // nothing but signs so far
		l.begin = len(text) - len(strings.TrimLeft(added, signs))
	}
	if trimmed := strings.TrimRight(added, signs); trimmed != "" {
		l.end = len(text) - len(added) + len(trimmed)
	}
	l.looked = len(text)
	return text[min(l.begin, l.end):l.end]
}

// maxRoman is the letters of a Roman number as that of a section.
const maxRoman = 4
