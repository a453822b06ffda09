// Package evidence finds the numbers and quotations of a text that are not in its source. Both can be compared
// literally, whatever else a summary or an answer contains, and in any language.
package evidence

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Kind is the kind of a Claim.
type Kind string

// The kinds of claims.
const (
	Number    Kind = "number"
	Quotation Kind = "quotation"
)

// Claim is a number or a quotation, as written in a text.
type Claim struct {
	Kind Kind
	Text string
}

// Source is the text in which claims are looked up. It is safe for concurrent use.
type Source struct {
	numbers map[value]bool
	strings map[string]bool // strings that look like a number but have no single value: dates, versions
	words   string          // all texts, see plain
}

// NewSource indexes texts. A quotation may span the end of one text and the start of the next.
func NewSource(texts ...string) *Source {
	s := &Source{numbers: map[value]bool{}, strings: map[string]bool{}}
	var words strings.Builder
	for _, text := range texts {
		for _, n := range numerals(fold(text)) {
			s.add(n)
		}
		words.WriteString(plain(text))
		words.WriteByte(' ')
	}
	s.words = words.String()
	return s
}

func (s *Source) add(n numeral) {
	s.strings[n.text] = true
	for _, v := range n.values {
		s.numbers[v] = true
	}
	for _, part := range n.parts {
		s.add(part)
	}
}

// Unsupported returns the claims of a text that the source doesn't contain, each once, in order. A number is
// supported by one of equal value in any notation: 1,234.5 by 1.234,5 and 12 % by 12%. If its value depends on
// the language (1.234), either value is accepted. Of a quotation only the words count, not case, punctuation or
// line breaks; the parts around an omission (…) must all occur, in order.
func (s *Source) Unsupported(text string) []Claim {
	var missing []Claim
	add := func(k Kind, text string) {
		if c := (Claim{k, strings.TrimSpace(text)}); !slices.Contains(missing, c) {
			missing = append(missing, c)
		}
	}
	for _, n := range numerals(fold(unlisted(text))) {
		if !s.has(n) {
			add(Number, n.text)
		}
	}
	for _, q := range quotations(text) {
		if !s.quotes(q) {
			add(Quotation, q)
		}
	}
	return missing
}

// HasNumbers reports whether the source has all numbers of a value, as Unsupported compares them. A value is not a list: the
// 12 of "12. March" is one of its numbers.
func (s *Source) HasNumbers(value string) bool {
	return !slices.ContainsFunc(numerals(fold(value)), func(n numeral) bool { return !s.has(n) })
}

// has reports whether the source has one of a numeral's values, or all of the numbers that it may consist of.
func (s *Source) has(n numeral) bool {
	if s.strings[n.text] || slices.ContainsFunc(n.values, func(v value) bool { return s.numbers[v] }) {
		return true
	}
	return len(n.parts) > 0 && !slices.ContainsFunc(n.parts, func(p numeral) bool { return !s.has(p) })
}

// fold normalizes digits and marks: compatibility forms, and the digits of every script.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII && unicode.Is(unicode.Nd, r) {
			d := '0'
			for unicode.Is(unicode.Nd, r-1) && d < '9' { // a script has its digits consecutively, from zero
				r, d = r-1, d+1
			}
			return d
		}
		return r
	}, norm.NFKC.String(text))
}

// plain returns the words of a text: letters and digits without case, separated by spaces.
func plain(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range cases.Fold().String(norm.NFKC.String(text)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		case r == '\u00ad', r == '\u200b': // soft hyphen, zero width space
		default:
			gap = true
		}
	}
	return b.String()
}
