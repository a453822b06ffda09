package search

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	leastStem     = 4   // runes that two forms of a word begin with
	mostEnding    = 3   // runes by which two forms of a word differ
	excerptRunes  = 300 // of a Highlight's Excerpt
	excerptBefore = 80  // of them before the first word that is marked, if it comes late
)

// Highlight is where a text has a query's words.
type Highlight struct {
	Marks   [][2]int `json:"marks"`   // from and to, in characters (code points) of the text
	Excerpt string   `json:"excerpt"` // HTML: a part of the text with the first of them, in <mark>; the rest is escaped
}

// Marker marks a query's words in texts, in whatever form the text has them.
type Marker struct {
	words map[string][]string // by formOf, those that begin alike together: see beginning
	pairs map[string]bool     // of neighbouring characters, of scripts that don't separate words
}

// NewMarker returns the Marker of a query without what it excludes (store.PositiveTerms).
func NewMarker(query string) Marker {
	m := Marker{map[string][]string{}, map[string]bool{}}
	for text := query; text != ""; {
		word, kind, rest := cutWord(text)
		switch form := formOf(word); {
		case kind == unspaced:
			for pair := range pairsOf(word) {
				m.pairs[norm.NFKC.String(word[pair[0]:pair[1]])] = true
			}
		case kind == spaced && (utf8.RuneCountInString(form) > 2 || strings.ContainsFunc(form, unicode.IsDigit)):
			m.words[beginning(form)] = append(m.words[beginning(form)], form)
		}
		text = rest
	}
	return m
}

// Highlight marks the words in a text.
func (m Marker) Highlight(text string) Highlight {
	marks := [][2]int{}
	at, runes, spans := 0, 0, m.spans(text)
	for _, s := range spans {
		from := runes + utf8.RuneCountInString(text[at:s[0]])
		at, runes = s[1], from+utf8.RuneCountInString(text[s[0]:s[1]])
		marks = append(marks, [2]int{from, runes})
	}
	return Highlight{marks, excerpt(text, spans, excerptRunes, excerptBefore)}
}

// Excerpt is HTML: the words of a text in <mark>, of one with more than most characters a part, which begins about
// "before" characters in front of the first of them.
func (m Marker) Excerpt(text string, most, before int) string {
	return excerpt(text, m.spans(text), most, before)
}

func excerpt(text string, spans [][2]int, most, before int) string {
	from, to := part(text, spans, most, before)
	var out strings.Builder
	if from > 0 {
		out.WriteString("…")
	}
	at := from
	for _, s := range spans {
		if s[0] < from || s[1] > to {
			continue
		}
		out.WriteString(html.EscapeString(text[at:s[0]]) + "<mark>" + html.EscapeString(text[s[0]:s[1]]) + "</mark>")
		at = s[1]
	}
	out.WriteString(html.EscapeString(text[at:to]))
	if to < len(text) {
		out.WriteString("…")
	}
	return out.String()
}

// part is where an excerpt begins and ends, in bytes.
func part(text string, spans [][2]int, most, before int) (from, to int) {
	if utf8.RuneCountInString(text) <= most {
		return 0, len(text)
	}
	if len(spans) > 0 && utf8.RuneCountInString(text[:spans[0][0]]) >= most-before {
		from = back(text, spans[0][0], before)
		_, _, rest := cutWord(text[from:]) // the first word is a part of one
		from = min(len(text)-len(rest), spans[0][0])
	}
	to = from
	for range most {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	return from, to
}

// back is the place of n runes before a place.
func back(text string, at, n int) int {
	for range n {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// spans are where the words are, in bytes.
func (m Marker) spans(text string) (all [][2]int) {
	add := func(from, to int) {
		if n := len(all); n > 0 && from <= all[n-1][1] {
			all[n-1][1] = to
			return
		}
		all = append(all, [2]int{from, to})
	}
	for at := 0; at < len(text); {
		word, kind, _ := cutWord(text[at:])
		switch {
		case kind == spaced && m.has(formOf(word)):
			add(at, at+len(word))
		case kind == unspaced:
			for pair := range pairsOf(word) {
				if m.pairs[norm.NFKC.String(word[pair[0]:pair[1]])] {
					add(at+pair[0], at+pair[1])
				}
			}
		}
		at += len(word)
	}
	return all
}

// has reports whether a word is one of the query's, or another form of it: the search by words finds by stems, so crane
// for cranes.
func (m Marker) has(word string) bool {
	return slices.ContainsFunc(m.words[beginning(word)], func(term string) bool {
		short, long := word, term
		if len(short) > len(long) {
			short, long = long, short
		}
		ending, ok := strings.CutPrefix(long, short)
		return ok && (ending == "" || utf8.RuneCountInString(short) >= leastStem && utf8.RuneCountInString(ending) <= mostEnding)
	})
}

// beginning is what all forms of a word begin with.
func beginning(word string) string {
	n := 0
	for i := range word {
		if n == leastStem {
			return word[:i]
		}
		n++
	}
	return word
}

// formOf is one form of a word, however its letters are composed, shaped (ﬁ, full width) or marked with vowels. It is
// about that of aw_plain, see schema/functions/61_terms.sql; which is a little finer with signs in superscript.
func formOf(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x064b && r <= 0x0652, r == 0x0640, r == 0x0670:
			return -1 // signs of vowels, and what stretches a word
		case r == 'ی':
			return 'ي'
		case r == 'ک':
			return 'ك'
		case r == 'ۀ', r == 'ھ':
			return 'ه'
		}
		return r
	}, strings.ToLower(norm.NFKC.String(word)))
}

// kind is what a run of characters is.
type kind int

const (
	between  kind = iota // no word
	spaced               // a word
	unspaced             // words of a script that doesn't separate them
)

// kindOf is the kind of a character. The scripts without spaces are those of the terms by pairs, with more of their
// characters: aw_pairs knows neither 々 and 〆 nor Han beyond U+FFFF, half-width Kana and single Jamo of Hangul only by their
// plain form (see schema/functions/61_terms.sql).
func kindOf(r rune) kind {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ' || isPart(r):
		return unspaced
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return spaced
	}
	return between
}

// cutWord cuts off the first run of one kind.
func cutWord(text string) (word string, is kind, rest string) {
	first, _ := utf8.DecodeRuneInString(text)
	is = kindOf(first)
	for i, r := range text {
		if kindOf(r) != is {
			return text[:i], is, text[i:]
		}
	}
	return text, is, ""
}

// pairsOf yields where the pairs of neighbouring characters are in a run, each with its parts; of a single character that
// one.
func pairsOf(run string) func(yield func([2]int) bool) {
	return func(yield func([2]int) bool) {
		before, last := -1, -1
		for i, r := range run {
			if i > 0 && isPart(r) {
				continue
			}
			if before >= 0 && !yield([2]int{before, i}) {
				return
			}
			before, last = last, i
		}
		from := max(before, 0)
		yield([2]int{from, len(run)})
	}
}

// isPart reports whether a character is a part of the one before it: a sound mark of Kana, in full or half width, or a
// vowel or final consonant of a decomposed Hangul syllable.
func isPart(r rune) bool {
	return r == '\u3099' || r == '\u309a' || r == '\uff9e' || r == '\uff9f' || r >= '\u1160' && r <= '\u11ff'
}
