package typeset

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
)

// Counter counts the numbered paragraphs of a text by level.
type Counter [9]struct {
	scheme string
	n      int
}

// Next returns the marker of the next paragraph, or "". It restarts the levels below.
func (c *Counter) Next(l *deck.List, level int) string {
	level = min(max(level, 0), len(c)-1)
	for i := level + 1; i < len(c); i++ {
		c[i].n = 0
	}
	at := &c[level]
	if l == nil || l.Kind != deck.NumberList {
		at.n = 0
		switch {
		case l == nil || l.Kind == deck.NoList:
			return ""
		case l.Char == "":
			return "•"
		}
		return l.Char
	}
	start := max(l.Start, 1)
	if at.scheme != l.Scheme || at.n < start {
		at.scheme, at.n = l.Scheme, start-1
	}
	at.n++
	return number(at.n, l.Scheme)
}

// Count returns the number of the last item of a level; 0: its list has ended.
func (c *Counter) Count(level int) int { return c[min(max(level, 0), len(c)-1)].n }

// number formats n in a scheme of ST_TextAutonumberScheme (ECMA-376 part 1, 20.1.10.61).
func number(n int, scheme string) string {
	format := "decimal"
	for prefix, f := range map[string]string{
		"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
	} {
		if strings.HasPrefix(scheme, prefix) {
			format = f
		}
	}
	text := numeral.Format(n, format)
	switch {
	case strings.HasSuffix(scheme, "ParenBoth"):
		return "(" + text + ")"
	case strings.HasSuffix(scheme, "ParenR"):
		return text + ")"
	case strings.HasSuffix(scheme, "Plain"):
		return text
	}
	return text + "."
}
