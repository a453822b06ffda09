package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// maxWordLevel is the deepest level of a list in Word.
const maxWordLevel = 9

// wordItem reads a paragraph of a list as Word and Outlook write it in pages and messages: without ul and li, with its
// level in the style (mso-list:l0 level2 lfo1) and its bullet or number in an element of the style mso-list:Ignore.
// That element is taken out of the tree. nil: the paragraph is none.
func wordItem(n *html.Node) *item {
	if n.DataAtom != atom.P && n.DataAtom != atom.Div {
		return nil
	}
	_, list, found := strings.Cut(attr(n, "style"), "mso-list:")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, ";")
	_, level, found := strings.Cut(list, " level")
	if !found {
		return nil
	}
	level, _, _ = strings.Cut(level, " ")
	depth, err := strconv.Atoi(level)
	if err != nil || depth < 1 || depth > maxWordLevel {
		return nil
	}
	for c := range n.Descendants() {
		style := strings.ReplaceAll(attr(c, "style"), " ", "")
		if !strings.Contains(style, "mso-list:Ignore") {
			continue
		}
		marker := extract.Clean(textOf(c))
		c.Parent.RemoveChild(c)
		if !strings.HasSuffix(marker, ".") && !strings.HasSuffix(marker, ")") {
			marker = "-" // a character of a symbol font, such as § or o
		}
		return &item{marker: marker, level: depth - 1}
	}
	return nil
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
