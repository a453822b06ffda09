package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// join appends b to a, the text of the previous line, and mends a hyphenated word.
func (v *vocabulary) join(a, b string) string {
	if head, found := strings.CutSuffix(a, string(softHyphen)); found {
		return head + b
	}
	head, hyphen := strings.CutSuffix(a, "-")
	last, _ := utf8.DecodeLastRuneInString(head)
	first, _ := utf8.DecodeRuneInString(b)
	switch {
	case a == "" || b == "":
		return a + b
	case hyphen && unicode.IsLetter(last) && unicode.IsLower(first):
		if v.hyphenates(head, b) {
			return a + b
		}
		return head + b
	case hyphen && (unicode.IsLetter(last) || unicode.IsDigit(last)) &&
		(unicode.IsLetter(first) || unicode.IsDigit(first)):
		return a + b
	case endsWithJoiner(a) && !(a[len(a)-1] == '/' && first == '('):
		return a + b
	}
	return joinTexts(a, b)
}

// ownHyphen matches what a hyphen at its end belongs to: a part of an address, of a chemical name, or of a compound.
var ownHyphen = pattern.New(`[/@\d()\[\]{}-]|(^|\PL)\p{Lu}+$`)

// joinInCell is join for the lines of a narrow cell, which are parted at the hyphens that a text has itself.
func (v *vocabulary) joinInCell(a, b string) string {
	head, hyphen := strings.CutSuffix(a[strings.LastIndexByte(a, ' ')+1:], "-")
	first, _ := utf8.DecodeRuneInString(b)
	if hyphen && unicode.IsLetter(first) && ownHyphen.MatchString(bare(head)) {
		return a + b
	}
	return v.join(a, b)
}

// endsWithJoiner reports whether a ends with a dash or slash without surrounding spaces.
func endsWithJoiner(a string) bool {
	r, n := utf8.DecodeLastRuneInString(a)
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-n])
	return (r == '—' || r == '/') && unicode.IsLetter(before)
}

// joinTexts appends b to a, with a space if the script uses spaces.
func joinTexts(a, b string) string {
	if a == "" || b == "" || noSpaceBetween(a, b) {
		return a + b
	}
	return a + " " + b
}

// textBuilder joins many parts to one text. Only the tail is inspected and copied per part.
type textBuilder struct {
	done strings.Builder
	tail string
}

const (
	tailBytes = 4 << 10
	keptBytes = 256 // of the tail; longer than any compound
)

// add appends part with join.
func (g *textBuilder) add(join func(a, b string) string, part string) {
	g.tail = join(g.tail, part)
	if len(g.tail) <= tailBytes {
		return
	}
	end := len(g.tail) - keptBytes
	for end > 0 && !utf8.RuneStart(g.tail[end]) {
		end--
	}
	g.done.WriteString(g.tail[:end])
	g.tail = g.tail[end:]
}

// String returns the whole text.
func (g *textBuilder) String() string {
	if g.done.Len() == 0 {
		return g.tail
	}
	g.done.WriteString(g.tail)
	g.tail = ""
	return g.done.String()
}
