package numfmt

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// role is what a part of a format code does.
type role uint8

const (
	symbol    role = iota // a character that is no literal by its notation
	literal               // text in quotes or after a backslash
	bracket               // what is in brackets: a color, a locale, a condition, an elapsed time
	separator             // of two sections
)

// parts yields the parts of a code's first section, see allParts.
func parts(code string) iter.Seq2[role, string] {
	return func(yield func(role, string) bool) {
		for does, text := range allParts(code) {
			if does == separator || !yield(does, text) {
				return
			}
		}
	}
}

// allParts yields the parts of a code, without gaps and fills. A quote or a bracket that is not closed ends it.
func allParts(code string) iter.Seq2[role, string] {
	return func(yield func(role, string) bool) {
		for code != "" {
			_, size := utf8.DecodeRuneInString(code)
			does, text, rest := symbol, code[:size], code[size:]
			found := true
			switch text {
			case ";":
				does = separator
			case `\`, "_", "*": // an escaped character, a gap, a fill
				_, size = utf8.DecodeRuneInString(rest)
				if text != `\` {
					code = rest[size:]
					continue
				}
				does, text, rest = literal, rest[:size], rest[size:]
			case `"`:
				does = literal
				text, rest, found = strings.Cut(rest, `"`)
			case "[":
				does = bracket
				text, rest, found = strings.Cut(rest, "]")
			}
			if !found || !yield(does, text) {
				return
			}
			code = rest
		}
	}
}

// letters returns a code's symbols in lower case. elapsed reports whether it counts elapsed hours, minutes or seconds,
// for example [h].
func letters(code string) (symbols string, elapsed bool) {
	var b strings.Builder
	for does, text := range parts(code) {
		switch does {
		case symbol:
			b.WriteString(text)
		case bracket:
			inner := strings.ToLower(text)
			elapsed = elapsed || inner != "" && (strings.Trim(inner, "h") == "" || strings.Trim(inner, "m") == "" ||
				strings.Trim(inner, "s") == "")
		case literal, separator:
		}
	}
	return strings.ToLower(b.String()), elapsed
}
