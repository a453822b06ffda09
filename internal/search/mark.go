package search

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/store"
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
	exact  map[string]bool       // by formOf; nil: the words alone decide
	joined map[string][]sequence // words with signs in them that are as exact, by their first part
	beside map[string][]string   // words that are marked beside those of exact, too
	words  map[string][]string   // by formOf, those that begin alike together: see beginning
	pairs  map[string]bool       // of neighbouring characters, of scripts that don't separate words
}

// sequence is a word with signs in it, such as an address or 1.5: its parts alone are other words.
type sequence struct {
	lead string   // the sign that it begins with
	runs []string // parts and the signs between them and after them, by formOf
}

// NewMarker returns the Marker of a query without what it excludes (store.PositiveTerms). It knows no stop words, and
// takes words for forms of one by their beginning: see For.
func NewMarker(query string) Marker {
	m := Marker{words: map[string][]string{}, pairs: map[string]bool{}}
	for word, kind := range wordsOf(query) {
		switch kind {
		case unspaced:
			for pair := range pairsOf(word) {
				m.pairs[norm.NFKC.String(word[pair[0]:pair[1]])] = true
			}
		case spaced:
			add(m.words, word)
		}
	}
	return m
}

// For returns the Marker for a hit, which marks what the search matched. Nil marks, of a database that was not migrated,
// change nothing.
func (m Marker) For(marks *store.Marks) Marker {
	if marks == nil {
		return m
	}
	m.exact, m.joined = map[string]bool{}, map[string][]sequence{}
	m.beside, m.words = map[string][]string{}, map[string][]string{}
	for _, word := range marks.Words {
		m.addExact(word)
	}
	for _, word := range marks.Alike {
		if _, is, rest := cutWord(word); !marks.Stemmed && is == spaced && rest == "" {
			add(m.beside, word)
		}
		for part, kind := range wordsOf(word) {
			if kind == spaced {
				add(m.words, part)
			}
		}
	}
	return m
}

// addExact adds a word to those that are found as they are.
func (m Marker) addExact(word string) {
	var s sequence
	for run, kind := range wordsOf(strings.TrimLeft(word, "-")) { // the minus of -12 may be a dash
		if len(s.runs) == 0 && kind == between {
			s.lead = run
			continue
		}
		s.runs = append(s.runs, formOf(run))
	}
	switch {
	case len(s.runs) == 1 && s.lead == "":
		m.exact[s.runs[0]] = true
	case len(s.runs) > 0:
		m.joined[s.runs[0]] = append(m.joined[s.runs[0]], s)
	}
}

// end is where the sequence ends, in bytes, if its first part is at a place in the text; 0: it isn't.
func (s sequence) end(text string, at int) int {
	if !strings.HasSuffix(text[:at], s.lead) {
		return 0
	}
	for i, want := range s.runs {
		run, is, _ := cutWord(text[at:])
		form := formOf(run)
		if last := i == len(s.runs)-1; form != want && !(last && is == between && strings.HasPrefix(form, want)) {
			return 0
		}
		at += len(run)
	}
	return at
}

// add adds a word to those that are found by their beginning.
func add(words map[string][]string, word string) {
	if form := formOf(word); utf8.RuneCountInString(form) > 2 || strings.ContainsFunc(form, unicode.IsDigit) {
		words[beginning(form)] = append(words[beginning(form)], form)
	}
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

// spans are where the words are, in bytes. If there is none of those that the search matched, it is those that are alike:
// a hit may be near by its vector alone.
func (m Marker) spans(text string) [][2]int {
	if m.exact != nil {
		found, end := false, 0 // of the sequence that was found
		all := m.spansOf(text, func(word string, at int) bool {
			for _, s := range m.joined[word] {
				end = max(end, s.end(text, at))
			}
			has := at < end || m.exact[word] || like(m.beside, word)
			found = found || has
			return has
		})
		if found {
			return all
		}
	}
	return m.spansOf(text, func(word string, _ int) bool { return like(m.words, word) })
}

// spansOf are where the pairs are, and the words that has reports, by their formOf and place.
func (m Marker) spansOf(text string, has func(word string, at int) bool) (all [][2]int) {
	add := func(from, to int) {
		if n := len(all); n > 0 && from <= all[n-1][1] {
			all[n-1][1] = to
			return
		}
		all = append(all, [2]int{from, to})
	}
	at := 0
	for word, kind := range wordsOf(text) {
		switch {
		case kind == spaced && has(formOf(word), at):
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

// like reports whether a word is one of some words, or begins like one and ends otherwise, like crane and cranes.
func like(words map[string][]string, word string) bool {
	return slices.ContainsFunc(words[beginning(word)], func(term string) bool {
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
