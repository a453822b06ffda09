package ocr

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// decoration matches the Markdown markup before a line's text.
var decoration = pattern.New(`^\s*(#{1,6}\s+|[-*+]\s+|>\s*)+`)

// Plain returns the text of Markdown without markup: lines unchanged, paragraphs separated by blank lines.
func Plain(markdown string) []Paragraph {
	var all []Paragraph
	var current Paragraph
	flush := func() {
		if len(current) > 0 {
			all, current = append(all, current), nil
		}
	}
	for row := range strings.SplitSeq(markdown, "\n") {
		var line Line
		for word := range strings.FieldsSeq(decoration.ReplaceAllString(row, "")) {
			if Letters(word) > 0 {
				line = append(line, Word{Text: word, Confidence: 1})
			}
		}
		if strings.TrimSpace(row) == "" {
			flush()
		} else if len(line) > 0 {
			current = append(current, line)
		}
	}
	flush()
	return all
}
