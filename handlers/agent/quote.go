package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/search"
)

// locate finds a quote in a text, regardless of white space, Unicode form (NFKC), kinds of quotation marks and dashes,
// and invisible characters. It returns the quote as the text spells it. A quote has whole words and numbers: "lawful" is
// not in "unlawful", nor "5 %" in "15 %".
func locate(text, quote string) (string, bool) {
	hay, places := plain(text)
	places = append(places, len(text))
	needle, _ := plain(quote)
	needle = strings.TrimSpace(needle)
	if strings.IndexFunc(needle, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) < 0 {
		return "", false // an empty quote
	}
	for from := 0; ; {
		at := strings.Index(hay[from:], needle)
		if at < 0 {
			return "", false
		}
		at += from
		end := at + len(needle)
		if !splitsWord(text, places, at) && !splitsWord(text, places, end) && !splitsNumber(hay, at) &&
			!splitsNumber(hay, end) && !splitsGroups(text, places, hay, at) && !splitsGroups(text, places, hay, end) {
			return strings.TrimSpace(text[places[at]:places[end]]), true
		}
		from = at + 1
	}
}

// splitsWord reports whether a place of a normalized text is inside a word, by the characters of the original: a
// footnote's ¹ is not part of the word before it.
func splitsWord(text string, places []int, at int) bool {
	if at == 0 || at == len(places)-1 {
		return false
	}
	a, _ := utf8.DecodeRuneInString(text[places[at-1]:])
	b, _ := utf8.DecodeRuneInString(text[places[at]:])
	switch {
	case !inWord(a) || !inWord(b):
		return false
	case unicode.IsMark(b), unicode.IsNumber(a) && unicode.IsNumber(b):
		return true
	}
	return !search.Unspaced(a) && !search.Unspaced(b)
}

func inWord(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c) && !strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", c)
}

// splitsNumber reports whether a place is behind the minus of a number, or beside a decimal or thousands separator within it.
func splitsNumber(text string, at int) bool {
	if sign, ok := strings.CutSuffix(text[:at], "-"); ok {
		a, _ := utf8.DecodeLastRuneInString(sign)
		if startsAmount(text[at:]) && !inWord(a) { // -5, not 4-5 or B-5
			return true
		}
	}
	const separators = ".,'٫٬"
	before, after := text[:at], text[at:]
	if c, size := utf8.DecodeLastRuneInString(before); size > 0 && strings.ContainsRune(separators, c) {
		before = before[:at-size]
	} else if c, size := utf8.DecodeRuneInString(after); size > 0 && strings.ContainsRune(separators, c) {
		after = after[size:]
	} else {
		return false
	}
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return unicode.IsDigit(a) && unicode.IsDigit(b)
}

// splitsGroups reports whether a place of the normalized text hay is beside a blank between groups of a number, as in 12 500:
// one blank of the original, and no end of a line. 2022 500 and COVID-19 300 are two numbers.
func splitsGroups(text string, places []int, hay string, at int) bool {
	switch {
	case at > 0 && hay[at-1] == ' ':
		at--
	case at == len(hay) || hay[at] != ' ':
		return false
	}
	blank := text[places[at]:places[at+1]]
	if strings.ContainsAny(blank, "\n\r\t\v\f") || utf8.RuneCountInString(blank) != 1 || digitsAtStart(hay[at+1:]) != 3 {
		return false
	}
	group := hay[:at]
	first := strings.TrimRightFunc(group, unicode.IsDigit)
	digits := utf8.RuneCountInString(group[len(first):])
	return digits >= 1 && digits <= 3 && (blank != " " || !isName(first))
}

// isName reports whether the digits after a text are the end of a name, as in COVID-19 and B2, and not an amount of a
// currency: R12, EUR12.
func isName(text string) bool {
	rest := strings.TrimRightFunc(text, unicode.IsLetter)
	letters := text[len(rest):]
	if letters == "" {
		c, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "-"))
		return unicode.IsLetter(c)
	}
	const signs = " R Rs kr Kr zł Ft Kč lei RM Rp S Fr "
	code := utf8.RuneCountInString(letters) == 3 && strings.ToUpper(letters) == letters
	return !code && !strings.Contains(signs, " "+letters+" ")
}

// startsAmount reports whether a text begins with a digit, perhaps after a sign of a currency.
func startsAmount(text string) bool {
	c, size := utf8.DecodeRuneInString(text)
	if unicode.Is(unicode.Sc, c) {
		c, _ = utf8.DecodeRuneInString(strings.TrimPrefix(text[size:], " "))
	}
	return unicode.IsDigit(c)
}

func digitsAtStart(text string) int {
	rest := strings.TrimLeftFunc(text, unicode.IsDigit)
	return utf8.RuneCountInString(text[:len(text)-len(rest)])
}

// plain is a text normalized for comparing quotes, with the position in the original of each of its bytes.
func plain(text string) (string, []int) {
	var out strings.Builder
	var places []int
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	space := true // no white space at the start or after other white space
	for !it.Done() {
		from := it.Pos()
		for _, c := range string(it.Next()) {
			switch {
			case unicode.IsSpace(c):
				if space {
					continue
				}
				c = ' '
			case unicode.Is(unicode.Cf, c), unicode.IsControl(c), unicode.Is(unicode.Variation_Selector, c):
				continue
			case strings.ContainsRune("‘’‚‛′`´", c):
				c = '\''
			case strings.ContainsRune("“”„‟″«»", c):
				c = '"'
			case unicode.Is(unicode.Pd, c), c == '−':
				c = '-'
			}
			space = c == ' '
			for range utf8Len(c) {
				places = append(places, from)
			}
			out.WriteRune(c)
		}
	}
	return out.String(), places
}

func utf8Len(c rune) int { return len(string(c)) }
