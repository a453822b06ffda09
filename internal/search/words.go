package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// formOf is one form of a word, however its letters are composed, shaped (ﬁ, full width) or marked with vowels. It is
// about that of aw_plain, see schema/functions/61_terms.sql; which is a little finer with signs in superscript.
func formOf(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x064b && r <= 0x0652, r == 0x0640, r == 0x0654, r == 0x0670:
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
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r >= '₀' && r <= '₉': // CO₂
		return spaced
	}
	return between
}

// Unspaced reports whether a character is of a script without white space between words or, as Hangul, between a word and
// its particle.
func Unspaced(r rune) bool { return kindOf(r) == unspaced }

// wordsOf yields the runs of one kind that a text consists of.
func wordsOf(text string) iter.Seq2[string, kind] {
	return func(yield func(string, kind) bool) {
		for rest := text; rest != ""; {
			var word string
			var is kind
			if word, is, rest = cutWord(rest); !yield(word, is) {
				return
			}
		}
	}
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
