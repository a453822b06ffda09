package object

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// The kinds of PDF objects (ISO 32000-1, 7.3). Numbers are float64, dictionaries map[Name]any, arrays []any, null and
// what is malformed nil.
type (
	// Name is a name object without its slash.
	Name string
	// String is the bytes of a string object.
	String string
	// Ref is the number of an indirect object.
	Ref int
	// Dict is a dictionary object.
	Dict map[Name]any
)

// maxDepth is how deep arrays and dictionaries are read. What is deeper is nil.
const maxDepth = 20

// parser reads objects from the start of data.
type parser struct {
	data []byte
	at   int
}

const (
	blanks     = "\x00\t\n\f\r "
	delimiters = "()<>[]{}/%"
)

func (p *parser) skipBlanks() {
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '%':
			for p.at < len(p.data) && p.data[p.at] != '\n' && p.data[p.at] != '\r' {
				p.at++
			}
		case strings.IndexByte(blanks, c) >= 0:
			p.at++
		default:
			return
		}
	}
}

// accept skips a token if it is next.
func (p *parser) accept(token string) bool {
	p.skipBlanks()
	if !bytes.HasPrefix(p.data[p.at:], []byte(token)) {
		return false
	}
	p.at += len(token)
	return true
}

// regular reads a run of regular characters.
func (p *parser) regular() string {
	start := p.at
	for p.at < len(p.data) && strings.IndexByte(blanks+delimiters, p.data[p.at]) < 0 {
		p.at++
	}
	return string(p.data[start:p.at])
}

// value reads one object. It always makes progress, unless data is at its end.
func (p *parser) value(depth int) any {
	p.skipBlanks()
	if p.at >= len(p.data) {
		return nil
	}
	if depth > maxDepth {
		p.at = len(p.data)
		return nil
	}
	switch c := p.data[p.at]; {
	case c == '/':
		p.at++
		return p.name()
	case c == '(':
		p.at++
		return p.literal()
	case p.accept("<<"):
		return p.dict(depth + 1)
	case c == '<':
		p.at++
		return p.hex()
	case c == '[':
		p.at++
		return p.array(depth + 1)
	case strings.IndexByte(delimiters, c) >= 0:
		p.at++
		return nil
	}
	return p.numberOrRef()
}

func (p *parser) name() Name {
	raw := p.regular()
	if !strings.Contains(raw, "#") {
		return Name(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if code, err := strconv.ParseUint(raw[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		b.WriteByte(raw[i])
	}
	return Name(b.String())
}

func (p *parser) dict(depth int) Dict {
	d := Dict{}
	for p.at < len(p.data) && !p.accept(">>") {
		if !p.accept("/") {
			before := p.at
			p.value(depth) // a value without a name
			if p.at == before {
				break
			}
			continue
		}
		key := p.name()
		d[key] = p.value(depth)
	}
	return d
}

func (p *parser) array(depth int) []any {
	var all []any
	for p.at < len(p.data) && !p.accept("]") {
		before := p.at
		if v := p.value(depth); v != nil {
			all = append(all, v)
		}
		if p.at == before {
			break
		}
	}
	return all
}

// numberOrRef reads a number, a reference ("12 0 R"), or a keyword, which is nil.
func (p *parser) numberOrRef() any {
	word := p.regular()
	number, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return nil
	}
	object, err := strconv.Atoi(word)
	if err != nil || object < 0 {
		return number
	}
	after := p.at
	p.skipBlanks()
	if _, err := strconv.ParseUint(p.regular(), 10, 16); err == nil && p.accept("R") &&
		(p.at >= len(p.data) || strings.IndexByte(blanks+delimiters, p.data[p.at]) >= 0) {
		return Ref(object)
	}
	p.at = after
	return number
}

func (p *parser) hex() String {
	var digits []byte
	for p.at < len(p.data) && p.data[p.at] != '>' {
		if c := p.data[p.at]; strings.IndexByte(blanks, c) < 0 {
			digits = append(digits, c)
		}
		p.at++
	}
	p.at = min(p.at+1, len(p.data))
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	out := make([]byte, 0, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		code, err := strconv.ParseUint(string(digits[i:i+2]), 16, 8)
		if err != nil {
			return String(out)
		}
		out = append(out, byte(code))
	}
	return String(out)
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

func (p *parser) literal() String {
	var out []byte
	for open := 1; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; c {
		case '(':
			open++
			out = append(out, c)
		case ')':
			if open--; open == 0 {
				p.at++
				return String(out)
			}
			out = append(out, c)
		case '\\':
			out = p.escape(out)
		default:
			out = append(out, c)
		}
	}
	return String(out)
}

// escape reads what follows a backslash and stays at its last byte.
func (p *parser) escape(out []byte) []byte {
	if p.at++; p.at >= len(p.data) {
		return out
	}
	c := p.data[p.at]
	switch {
	case escapes[c] != 0:
		return append(out, escapes[c])
	case c == '\r':
		if p.at+1 < len(p.data) && p.data[p.at+1] == '\n' {
			p.at++
		}
		return out
	case c == '\n':
		return out
	case c < '0' || c > '7':
		return append(out, c)
	}
	code := 0
	digits := 0
	for ; digits < 3 && p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '7'; digits++ {
		code = code<<3 + int(p.data[p.at]-'0')
		p.at++
	}
	p.at--
	return append(out, byte(code))
}

// Text returns a text string (7.9.2.2) as UTF-8. PDFDocEncoding is read as windows-1252, from which it differs in
// few signs.
func (s String) Text() string {
	switch {
	case strings.HasPrefix(string(s), "\xFE\xFF"):
		s = s[2:]
		units := make([]uint16, 0, len(s)/2)
		for i := 0; i+1 < len(s); i += 2 {
			units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
		}
		return string(utf16.Decode(units))
	case strings.HasPrefix(string(s), "\xEF\xBB\xBF"):
		return strings.ToValidUTF8(string(s[3:]), "")
	}
	text, err := charmap.Windows1252.NewDecoder().String(string(s))
	if err != nil {
		return ""
	}
	return text
}
