package symbol

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// raised are the digits and signs that Unicode has in superscript.
var raised = map[rune]rune{
	'0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹',
	'+': '⁺', '-': '⁻', '−': '⁻', '(': '⁽', ')': '⁾',
}

// superscripts are the characters that raised maps to.
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾"

// Raise returns a text that is set in superscript and comes directly after another. A number that follows a word or a
// number stays raised, or it would become a part of it: 10⁶ is not 106. Other superscripts (st, TM, [1]) are returned as
// they are. Blanks may follow the number.
func Raise(before, text string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	number := strings.TrimRight(text, " ")
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(superscripts, last) || !CanRise(number) {
		return text
	}
	return strings.Map(func(r rune) rune { return raised[r] }, number) + text[len(number):]
}

// CanRise reports whether a text has digits and signs only, all of which Unicode has in superscript.
func CanRise(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return raised[r] == 0 })
}
