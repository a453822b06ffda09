package eml

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	maxWords = 20_000 // different words that are compared of a version
	maxWord  = 64     // bytes of a word that are compared

	// minPlainShare: a plain text with less than a third of the HTML version's letters is only a note that the
	// mail program can't show HTML.
	minPlainShare = 3

	// maxLostShare: so is one that lacks a third of the HTML version's words, however long the addresses in it.
	maxLostShare = 3
)

// address is one of the web, or of mail.
var address = pattern.New(`(?i)\b(?:(?:https?|ftp)://|mailto:|www\.)[^\s<>"]+`)

// words are the different words of a version of the text, without addresses. A number is a word, too.
type words struct {
	seen    map[string]struct{}
	letters int // of all words
}

// add adds the words of a block.
func (w *words) add(b extract.Block) {
	w.text(b.Text)
	if b.Table == nil {
		return
	}
	for _, row := range b.Table.Rows {
		for _, cell := range row {
			w.text(cell.Text)
		}
	}
}

func (w *words) text(text string) {
	text = address.ReplaceAllString(text, " ")
	start := -1 // of a word
	for i, r := range text {
		letter := unicode.In(r, unicode.L, unicode.M, unicode.N)
		alone := letter && isUnspaced(r)
		if start >= 0 && (!letter || alone) {
			w.word(text[start:i])
			start = -1
		}
		switch {
		case alone:
			w.word(string(r))
		case letter && start < 0:
			start = i
		}
		if letter {
			w.letters++
		}
	}
	if start >= 0 {
		w.word(text[start:])
	}
}

// isUnspaced reports whether a letter is of a script without blanks between words. Each is taken for a word.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func (w *words) word(word string) {
	if len(w.seen) < maxWords {
		w.seen[strings.ToLower(word[:min(len(word), maxWord)])] = struct{}{}
	}
}

// lacking returns how many of the words are not among the others.
func (w *words) lacking(others *words) int {
	n := 0
	for word := range w.seen {
		if _, ok := others.seen[word]; !ok {
			n++
		}
	}
	return n
}

// says reports whether the plain text has what the page has, or at least more than it.
func (w *words) says(page *words) bool {
	if w.letters*minPlainShare < page.letters {
		return false
	}
	lost := page.lacking(w)
	return lost*maxLostShare < len(page.seen) || lost <= w.lacking(page)
}
