package html

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// raised are the digits and signs that Unicode has in superscript.
var raised = map[rune]rune{
	'0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹',
	'+': '⁺', '-': '⁻', '−': '⁻', '(': '⁽', ')': '⁾',
}

// superscript reads a sup. A number that follows a word or number directly stays raised, or it would become a part of
// it: 10⁶ is not 106. Other superscripts (st, TM, [1]) are read as they are.
func (w *walker) superscript(n *html.Node) error {
	last, _ := utf8.DecodeLastRuneInString(w.text.String())
	if follows := unicode.IsLetter(last) || unicode.IsDigit(last); follows && !w.blank && canRise(n) {
		raise(n)
	}
	return w.children(n)
}

// canRise reports whether a superscript consists of digits and signs, perhaps in a link.
func canRise(sup *html.Node) bool {
	for n := range sup.Descendants() {
		switch {
		case n.Type == html.TextNode:
			if strings.ContainsFunc(n.Data, func(r rune) bool { return raised[r] == 0 }) {
				return false
			}
		case n.DataAtom != atom.A && n.DataAtom != atom.Span || hidden(n):
			return false
		}
	}
	return true
}

// raise changes the text of a superscript that can rise.
func raise(sup *html.Node) {
	for n := range sup.Descendants() {
		if n.Type == html.TextNode {
			n.Data = strings.Map(func(r rune) rune { return raised[r] }, n.Data)
		}
	}
}
