package pdf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// typedAddress matches what papers print in a typewriter's letters and is no program: addresses of mail and of pages, of which
// several may share a host.
var typedAddress = pattern.New(`^(\{[^{}@]+\}|[\p{L}\d._+-]+( [\p{L}\d._+-]+)?)@[\p{L}\d-]+(\.[\p{L}\d-]+)+[,;.]?$|` +
	`^(https?://|www\.)\S+$`)

// onlyAddresses reports whether each line is an address.
func onlyAddresses(lines []line) bool {
	return !slices.ContainsFunc(lines, func(l line) bool { return !typedAddress.MatchString(joinWords(l.words())) })
}

// code joins the lines of a program listing and keeps their indentation, after their numbers if they have any.
func code(lines []line) string {
	left, chars, width := lines[0].right, 0, 0.0
	for _, l := range lines {
		if _, rest := l.numbered(); len(rest) > 0 {
			left = min(left, rest[0].left)
			chars += utf8.RuneCountInString(joinWords(rest))
			width += l.right - rest[0].left
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		number, rest := l.numbered()
		b.WriteString(number)
		if len(rest) == 0 {
			continue
		}
		if number != "" {
			b.WriteByte(' ')
		}
		if chars > 0 && width > 0 {
			b.WriteString(strings.Repeat(" ", min(80, max(0, int((rest[0].left-left)/(width/float64(chars))+0.5)))))
		}
		b.WriteString(joinWords(rest))
	}
	return b.String()
}

// numbered returns the number of a listing's line, or an empty text, and the other words.
func (l line) numbered() (number string, rest []word) {
	words := l.words()
	if len(words) > 0 && words[0].numbers {
		return words[0].text, words[1:]
	}
	return "", words
}
