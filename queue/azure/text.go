package azure

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// storable returns the text in a form that Azure keeps: unchanged if XML can hold it, else as standard base64, which
// the decoder of task messages accepts. Go's XML encoder would silently replace illegal characters by U+FFFD, and a
// carriage return would come back as a line feed.
func storable(text string) string {
	for _, r := range text {
		if r == '\r' || !legal(r) {
			return base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	if !utf8.ValidString(text) {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

// legal reports whether XML 1.0 can hold the character (section 2.2, production Char).
func legal(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF ||
		r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

// legalXML replaces what makes Go's parser reject the whole document: invalid UTF-8, characters that XML forbids, and
// references to such characters (&#x1;). So one such message from another sender can't hide the others of its batch;
// its own text then has U+FFFD. A legal document is returned unchanged.
func legalXML(doc []byte) []byte {
	at := illegalAt(doc, 0)
	if at < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+8)
	from := 0
	for at >= 0 {
		out = append(out, doc[from:at]...)
		out = utf8.AppendRune(out, utf8.RuneError)
		_, n := badSequence(doc[at:])
		from = at + n
		at = illegalAt(doc, from)
	}
	return append(out, doc[from:]...)
}

// illegalAt returns the index of the next bad sequence from i on; -1: none.
func illegalAt(doc []byte, i int) int {
	for i < len(doc) {
		if c := doc[i]; c >= 0x20 && c < utf8.RuneSelf && c != '&' {
			i++
			continue
		}
		bad, n := badSequence(doc[i:])
		if bad {
			return i
		}
		i += n
	}
	return -1
}

// badSequence checks the character or character reference at the start of b, and returns its length.
func badSequence(b []byte) (bad bool, n int) {
	if bytes.HasPrefix(b, []byte("&#")) {
		end := bytes.IndexByte(b[:min(len(b), 16)], ';')
		if end < 0 {
			return false, 1
		}
		digits, base := b[2:end], 10
		if len(digits) > 0 && (digits[0] == 'x' || digits[0] == 'X') {
			digits, base = digits[1:], 16
		}
		code, err := strconv.ParseUint(string(digits), base, 32)
		return err != nil || !legal(rune(code)), end + 1
	}
	r, n := utf8.DecodeRune(b)
	return r == utf8.RuneError && n == 1 || !legal(r), n
}
