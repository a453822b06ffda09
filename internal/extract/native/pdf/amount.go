package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Financial statements print the sign of a currency at the left edge of its column and the amount at the right edge, and
// only in the first and last rows. The sign and the amount are one cell, and the sign says nothing about the columns.

const (
	maxSignGap  = 12.0 // font sizes between a sign and its amount
	maxSignLine = 200  // words that are looked at: a line of text has fewer
	leastApart  = 0.25 // font sizes between an amount and the sign of the next one: hardly less than a space
	mostBehind  = 0.5  // font sizes between an amount and its sign behind it: a space
)

// isSign reports whether a word is only the sign of a currency that precedes amounts: "$", "US$", "£".
func isSign(w word) bool {
	r, n := utf8.DecodeLastRuneInString(w.text)
	if !unicode.Is(unicode.Sc, r) || len(w.text)-n > 2 {
		return false
	}
	return strings.IndexFunc(w.text[:len(w.text)-n], func(r rune) bool { return !unicode.IsUpper(r) }) < 0
}

// isAmount reports whether a word is an amount, or the dash of one that is nothing: "1,234", "(5.2)", "—". The percent
// sign may be apart.
func isAmount(w word) bool {
	digits := 0
	for _, r := range w.text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case !strings.ContainsRune(".,()-–—−%+", r):
			return false
		}
	}
	return digits > 0 || w.text == "%" || w.text == "-" || w.text == "–" || w.text == "—"
}

// signsAmount reports whether words[i] is the sign of the amount after it.
func signsAmount(words []word, i int) bool {
	return i+1 < len(words) && isSign(words[i]) && isAmount(words[i+1]) && !signsBehind(words) &&
		words[i+1].left-words[i].right < maxSignGap*words[i].em()
}

// signsBehind reports whether a line has the signs behind its amounts. The first sign tells, among the first words: it is
// behind an amount, and the line ends with a sign or this one is much closer to its amount than to what follows.
func signsBehind(words []word) bool {
	i := slices.IndexFunc(words[:min(len(words), maxSignLine)], isSign)
	if i < 1 || !isAmount(words[i-1]) {
		return false
	}
	if isSign(words[len(words)-1]) {
		return true
	}
	before, after := words[i].left-words[i-1].right, words[i+1].left-words[i].right
	return before < mostBehind*words[i].em() && before < after/2
}

// parts reports whether words[i] begins a cell although it is close to the word before: it is the sign of an amount that
// is in the next column, as it is after another amount, or because the amount is as far from it as a cell.
func parts(words []word, i int, gap float64) bool {
	if !signsAmount(words, i) || words[i].left-words[i-1].right < leastApart*words[i].em() {
		return false
	}
	return isAmount(words[i-1]) || words[i+1].left-words[i].right >= gap*words[i].em()
}

// boxOf returns the box of the words of a cell, without the sign of a currency before an amount.
func boxOf(words []word) (b box) {
	if signsAmount(words, 0) {
		words = words[1:]
	}
	for _, w := range words {
		b = b.union(w.box)
	}
	return b
}

// oneColumn reports whether the only text of a table is amounts and signs of currencies, with amounts in one cell of each
// row. It is a column of a table: lines below its sums, or rows in a colour, frame it.
func oneColumn(t *extract.Table) bool {
	for _, row := range t.Rows {
		amounts := 0
		for _, c := range row {
			amount := false
			for text := range strings.FieldsSeq(c.Text) {
				w := word{text: text}
				if !isAmount(w) && !isSign(w) {
					return false
				}
				amount = amount || isAmount(w)
			}
			amounts += one(amount)
		}
		if amounts > 1 {
			return false
		}
	}
	return true
}
