package agent

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// value extracts the value of the key answer from a JSON object in pieces: the text of a string, otherwise the JSON.
// Keys of inner objects don't count. Its output for invalid JSON is undefined but harmless.
type value struct {
	depth    int
	inString bool
	atKey    bool // the next string is a key
	name     strings.Builder
	ours     bool   // within the value
	asText   bool   // which is a string
	escape   string // an incomplete escape
	high     rune   // the first half of a surrogate pair
}

func newValue() *value { return &value{} }

// feed returns the part of the value in the next piece.
func (v *value) feed(piece string) string {
	var out strings.Builder
	for _, c := range piece {
		v.take(c, &out)
	}
	return out.String()
}

func (v *value) take(c rune, out *strings.Builder) {
	switch {
	case v.inString:
		v.within(c, out)
	case v.depth == 1 && strings.ContainsRune(" \n\t\r", c):
	default:
		v.begin(c, out)
	}
}

// begin consumes a character outside strings.
func (v *value) begin(c rune, out *strings.Builder) {
	raw := v.ours && !v.asText
	switch c {
	case '{', '[':
		v.depth++
		v.atKey = c == '{' && v.depth == 1
	case '}', ']':
		v.depth--
		if v.depth <= 0 {
			v.ours, raw = false, false
		}
	case ',':
		if v.depth == 1 {
			v.atKey, v.ours, raw = true, false, false
		}
	case ':':
		if v.depth == 1 && v.atKey {
			v.ours, v.asText, v.atKey = v.name.String() == "answer", false, false
			v.name.Reset()
			return
		}
	case '"':
		v.inString = true
		if v.ours && v.depth == 1 && !v.atKey {
			v.asText, raw = true, false
		}
	}
	if raw {
		out.WriteRune(c)
	}
}

// within consumes a character of a string.
func (v *value) within(c rune, out *strings.Builder) {
	raw := v.ours && !v.asText
	if raw {
		out.WriteRune(c)
	}
	switch {
	case v.escape != "":
		v.escape += string(c)
		if done, ok := unescape(v.escape); ok {
			v.escape = ""
			if !raw {
				v.character(done, out)
			}
		}
	case c == '\\':
		v.escape = `\`
	case c == '"':
		v.inString = false
		if v.asText {
			v.ours, v.asText = false, false
		}
	case !raw:
		v.character(c, out)
	}
}

// character consumes one decoded character of a key or of the value.
func (v *value) character(c rune, out *strings.Builder) {
	if utf16.IsSurrogate(c) {
		if v.high == 0 {
			v.high = c
			return
		}
		c = utf16.DecodeRune(v.high, c)
	}
	v.high = 0
	switch {
	case v.ours && v.asText:
		out.WriteRune(c)
	case v.atKey && v.depth == 1:
		v.name.WriteRune(c)
	}
}

// unescape returns the character of a complete escape.
func unescape(s string) (rune, bool) {
	if len(s) < 2 {
		return 0, false
	}
	if s[1] == 'u' {
		if len(s) < 6 {
			return 0, false
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err != nil {
			return '\uFFFD', true
		}
		return rune(n), true
	}
	if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), true
	}
	return rune(s[1]), true
}
