package html

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

// superscript reads a sup. A number that follows a word or number directly stays raised (symbol.Raise).
func (w *walker) superscript(n *html.Node) error {
	last, _ := utf8.DecodeLastRuneInString(w.text.String())
	if follows := unicode.IsLetter(last) || unicode.IsDigit(last); follows && !w.blank && canRise(n) {
		raise(n, string(last))
	}
	return w.children(n)
}

// canRise reports whether a superscript consists of digits and signs, perhaps in a link.
func canRise(sup *html.Node) bool {
	for n := range sup.Descendants() {
		switch {
		case n.Type == html.TextNode:
			if !symbol.CanRise(n.Data) {
				return false
			}
		case n.DataAtom != atom.A && n.DataAtom != atom.Span || hidden(n):
			return false
		}
	}
	return true
}

// raise changes the text of a superscript that can rise and follows another text.
func raise(sup *html.Node, before string) {
	for n := range sup.Descendants() {
		if n.Type == html.TextNode {
			n.Data = symbol.Raise(before, n.Data)
		}
	}
}
