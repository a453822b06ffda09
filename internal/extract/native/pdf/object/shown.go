package object

import "bytes"

// Shown is a string, or a number between strings, of an operand of an operator that shows text (ISO 32000-1, 9.4.3).
type Shown struct {
	Codes []byte // valid until the next object is read
	Move  float64
}

// shown is what the last string or array of a content stream consists of, without memory for each part.
type shown struct {
	codes []byte
	parts []Shown // their codes are in codes
}

// maxShown limits the bytes of the codes that are kept of an operand.
const maxShown = 1 << 20

func (s *shown) reset() { s.codes, s.parts = s.codes[:0], s.parts[:0] }

// add adds bytes to the string that is read.
func (s *shown) add(b ...byte) {
	s.codes = append(s.codes, b[:min(len(b), maxShown-len(s.codes))]...)
}

// end ends a string that began with the byte from.
func (s *shown) end(from int) { s.parts = append(s.parts, Shown{Codes: s.codes[from:]}) }

// Shown returns the strings, and the numbers between them, of the last string or array of a content stream.
func (l *Lexer) Shown() []Shown { return l.shown.parts }

// keepText reads a string in parentheses, after the first one.
func (l *Lexer) keepText() error {
	from := len(l.shown.codes)
	for open := 1; ; {
		c, err := l.until("()\\")
		if err != nil {
			return err
		}
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				l.shown.end(from)
				return nil
			}
		default:
			if err := l.escape(func(c byte) { l.shown.add(c) }); err != nil {
				return err
			}
			continue
		}
		l.shown.add(c)
	}
}

// keepHex reads a string of hexadecimal digits, after the first bracket.
func (l *Lexer) keepHex() error {
	from := len(l.shown.codes)
	half, high := false, byte(0)
	for {
		c, err := l.next()
		if err != nil {
			return err
		}
		if c == '>' {
			if half {
				l.shown.add(high << 4)
			}
			l.shown.end(from)
			return nil
		}
		v, ok := digit(c)
		if !ok {
			continue
		}
		if half {
			l.shown.add(high<<4 | v)
		}
		half, high = !half, v
	}
}

// until keeps what is before the next of some bytes, and returns that one.
func (l *Lexer) until(set string) (byte, error) {
	for {
		ahead := l.ahead()
		if n := bytes.IndexAny(ahead, set); n >= 0 {
			l.shown.add(ahead[:n]...)
			l.at += n + 1
			return ahead[n], nil
		}
		l.shown.add(ahead...)
		l.at = l.end
		if err := l.fill(); err != nil {
			return 0, err
		}
	}
}

// keepArray reads an array, after its bracket, and keeps its strings and numbers.
func (l *Lexer) keepArray(depth int) error {
	for {
		c, err := l.skip()
		if err != nil {
			return err
		}
		if l.items++; l.items > maxItems || depth > maxDepth {
			return errTooLarge
		}
		switch c {
		case ']':
			return nil
		case '(':
			err = l.keepText()
		case '{', '}', ')':
		case '[':
			err = l.keepArray(depth + 1)
		case '/', '<', '>':
			l.back()
			err = l.keepItem(depth + 1)
		default:
			l.back()
			var word []byte
			if word, err = l.token(); string(word) == "endobj" {
				return errSyntax
			}
			if v, ok := number(word); ok && err == nil {
				l.shown.parts = append(l.shown.parts, Shown{Move: v})
			}
		}
		if err != nil {
			return err
		}
	}
}

// keepItem reads an item of an array.
func (l *Lexer) keepItem(depth int) error {
	l.items-- // it is counted again
	o, err := l.object(depth)
	if o == Object(Operator(">>")) {
		return errSyntax
	}
	return err
}
