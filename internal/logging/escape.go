package logging

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escaped returns a writer of JSON or text whose readers see every character: what a terminal obeys or hides (C1
// controls such as U+009B, bidirectional controls such as U+202E, other format characters) is written as \u202e. In
// JSON that is the same string. Each Write is of whole characters.
func Escaped(w io.Writer) io.Writer { return escaped{w} }

type escaped struct{ io.Writer }

// Write implements io.Writer.
func (e escaped) Write(p []byte) (int, error) {
	if _, err := e.Writer.Write(escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape returns p itself when there is nothing to escape.
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

// invisible says whether a character is not for the eye. C0 controls are left alone: JSON has none, and text for a
// terminal is made of them.
func invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r < 0xa0:
		return true
	case r == utf8.RuneError: // a byte that is no character, unless somebody wrote it so
		return true
	}
	return unicode.Is(unicode.Cf, r)
}
