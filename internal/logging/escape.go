package logging

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escaped returns a writer of JSON or text in which every character is visible: what a terminal would obey or hide (C1
// controls such as U+009B, bidirectional controls such as U+202E, other format characters) is written as \u202e, which
// is the same string in JSON. A Write must not split a character.
func Escaped(w io.Writer) io.Writer { return escaped{w} }

type escaped struct{ io.Writer }

// Write implements io.Writer.
func (e escaped) Write(p []byte) (int, error) {
	if _, err := e.Writer.Write(escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape returns p itself if there is nothing to escape.
func escape(p []byte) []byte {
	if bytes.IndexFunc(p, invisible) < 0 {
		return p
	}
	out := make([]byte, 0, len(p)+32)
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		switch {
		case !invisible(r) || r == utf8.RuneError && size > 1:
			out = append(out, p[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		p = p[size:]
	}
	return out
}

// invisible reports whether a character has no visible form. C0 controls are kept: JSON has none, and text for a
// terminal needs them.
func invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r < 0xa0:
		return true
	case r == utf8.RuneError: // a byte that is not UTF-8, or a literal U+FFFD
		return true
	}
	return unicode.Is(unicode.Cf, r)
}
