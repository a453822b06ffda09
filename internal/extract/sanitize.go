package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text fit for storage and search. The result is valid UTF-8 without NUL (which Postgres rejects)
// and without other control characters except tab and line feed. Line ends are \n, no-break spaces are plain
// ones, invisible characters within words (soft hyphen, zero-width space, byte order mark) are dropped, and the
// text is trimmed.
func Clean(text string) string { return strings.TrimSpace(fitAll(text)) }

// CleanName makes the name of a file fit for a heading, a path or a warning: one line as Clean leaves it, without the
// controls of writing direction (Unicode's Bidi_Control). With them a name shows another one: "report\u202Efdp.exe" looks
// like "reportexe.pdf".
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, Clean(name))
	return strings.Join(strings.Fields(name), " ")
}

// cleanLinked cleans a text and keeps its links at their words.
func cleanLinked(text string, links []Link) (string, []Link) {
	clean := Clean(text)
	return clean, fitLinks(text, clean, links, fitAll)
}

// cleanCode keeps the indentation of the first line and the blank lines inside.
func cleanCode(text string) string {
	text = strings.TrimRightFunc(fitAll(text), unicode.IsSpace)
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

func fitAll(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.IndexFunc(text, unfit) < 0 {
		return text
	}
	return strings.Map(fit, strings.ReplaceAll(text, "\r\n", "\n"))
}

func unfit(r rune) bool { return fit(r) != r }

// fit maps a character to its replacement, or to -1 to drop it.
func fit(r rune) rune {
	switch {
	case r == '\t' || r == '\n':
		return r
	case r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r < ' ' || 0x7F <= r && r < 0xA0:
		return -1
	case r == '\u00A0' || r == '\u2007' || r == '\u202F':
		return ' '
	case r == '\u00AD' || r == '\u200B' || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF':
		return -1
	}
	return r
}

// clean cleans the whole block and returns its number of characters; a block with none need not be emitted.
func (b *Block) clean() (characters int) {
	if b.Kind == Code {
		b.Text, b.Links = cleanCode(b.Text), nil
	} else {
		b.Text, b.Links = cleanLinked(b.Text, b.Links)
	}
	b.Marker = Clean(b.Marker)
	characters = utf8.RuneCountInString(b.Text)
	if b.Table == nil {
		return characters
	}
	for _, row := range b.Table.Rows {
		for i := range row {
			row[i].Text, row[i].Links = cleanLinked(row[i].Text, row[i].Links)
			characters += utf8.RuneCountInString(row[i].Text)
		}
	}
	return characters
}
