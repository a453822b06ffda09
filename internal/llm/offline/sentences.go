package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is a part of a text.
type Sentence struct {
	Text  string // without white space around it
	Start int    // in bytes of the text
}

// The longest words, in letters, that a full stop makes an abbreviation: one with a full stop inside ("e.g.",
// "U.S.A."), and one that is a capital with consonants ("Dr.", "Mrs.").
const (
	longDotted    = 6
	longConsonant = 3
)

// Sentences splits a text of any language: at the terminators of Unicode (property Sentence_Terminal) with the closing
// marks after them, if white space follows or the script has none; and at empty lines. A full stop doesn't split
// before a small letter or within a number ("3.50"), nor after a likely abbreviation. Source: the rules of UAX #29,
// section 5, without its word lists.
func Sentences(text string) []Sentence {
	var found []Sentence
	add := func(from, to int) {
		part := text[from:to]
		trimmed := strings.TrimLeftFunc(part, unicode.IsSpace)
		start := from + len(part) - len(trimmed)
		if trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace); trimmed != "" {
			found = append(found, Sentence{Text: trimmed, Start: start})
		}
	}
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		switch {
		case r == '\n' && emptyLine(text[next:]):
			add(start, i)
			start = next
		case unicode.Is(unicode.STerm, r):
			next = closed(text, next)
			if ends(text[start:i], r, text[next:]) {
				add(start, next)
				start = next
			}
		}
		i = next
	}
	add(start, len(text))
	return found
}

// emptyLine reports whether the first line of rest is empty.
func emptyLine(rest string) bool {
	line, _, ended := strings.Cut(rest, "\n")
	return ended && strings.TrimSpace(line) == ""
}

// closed skips terminators and closing marks.
func closed(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.In(r, unicode.STerm, unicode.Pe, unicode.Pf, unicode.Quotation_Mark) {
			break
		}
		i += size
	}
	return i
}

// ends reports whether the terminator after before, with its closing marks, ends a sentence when after follows.
func ends(before string, terminator rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case after == "":
		return true
	case terminator > unicode.MaxLatin1 && !unicode.IsSpace(next): // of a script without spaces
		return true
	case !unicode.IsSpace(next):
		return false
	case terminator != '.':
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
	return !unicode.IsLower(first) && !abbreviated(before)
}

// abbreviated reports whether the last word is likely an abbreviation; so is a single letter.
func abbreviated(before string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	first, size := utf8.DecodeRuneInString(word)
	letters := utf8.RuneCountInString(word)
	switch {
	case !unicode.IsLetter(first):
		return false
	case letters == 1:
		return true
	case strings.Contains(word, "."):
		return letters <= longDotted
	}
	return letters <= longConsonant && unicode.IsUpper(first) && !strings.ContainsAny(word[size:], "aeiouyAEIOUY") &&
		strings.ToUpper(word) != word
}
