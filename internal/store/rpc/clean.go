package rpc

import (
	"bytes"
	"unicode/utf16"
)

// Clean replaces the escapes of a JSON text that PostgreSQL's jsonb does not allow: \u0000 and halves of surrogate
// pairs become \ufffd. A payload or an original message may contain them, and must be recorded. Clean returns a text
// without them unchanged.
func Clean(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			out = append(out, text[i])
			i++
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok: // another escape, e.g. \\ or \n: both its bytes
			out = append(out, text[i], text[i+1])
			i += 2
		case utf16.IsSurrogate(rune(unit)):
			low, ok := escapedUnit(text[min(i+6, len(text)):])
			if ok && utf16.DecodeRune(rune(unit), rune(low)) != '\uFFFD' {
				out = append(out, text[i:i+12]...)
				i += 12
				continue
			}
			out = append(out, `\ufffd`...)
			i += 6
		case unit == 0:
			out = append(out, `\ufffd`...)
			i += 6
		default:
			out = append(out, text[i:i+6]...)
			i += 6
		}
	}
	return out
}

// escapedUnit reads the UTF-16 code unit of a \uXXXX at the start of b.
func escapedUnit(b []byte) (uint16, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var unit uint16
	for _, c := range b[2:6] {
		unit <<= 4
		switch {
		case '0' <= c && c <= '9':
			unit |= uint16(c - '0')
		case 'a' <= c && c <= 'f':
			unit |= uint16(c-'a') + 10
		case 'A' <= c && c <= 'F':
			unit |= uint16(c-'A') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}
