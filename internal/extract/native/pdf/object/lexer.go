package object

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of one object. A larger one is an error, except for strings, which are cut.
const (
	maxDepth  = 48
	maxItems  = 200_000 // of an object, at all depths
	maxString = 64 << 10
	maxWord   = 256 // bytes of a name, a number or an operator
)

var errSyntax = errors.New("the PDF has an object that is not well-formed")

// Operator is an operator of a content stream, or a keyword such as "obj".
type Operator string

// Lexer reads objects and operators one after the other.
type Lexer struct {
	in    *bufio.Reader
	pos   int64 // bytes that were read
	items int   // of the object that is read
	refs  bool  // "1 0 R" is a reference: not so in content streams
	word  []byte
}

// NewLexer returns a Lexer of a content stream.
func NewLexer(r io.Reader) *Lexer { return &Lexer{in: bufio.NewReaderSize(r, 4<<10)} }

func (l *Lexer) reset(r io.Reader, refs bool) {
	l.in.Reset(r)
	l.pos, l.refs, l.items = 0, refs, 0
}

func (l *Lexer) next() (byte, error) {
	c, err := l.in.ReadByte()
	if err == nil {
		l.pos++
	}
	return c, err
}

func (l *Lexer) back() {
	if l.in.UnreadByte() == nil {
		l.pos--
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// skip returns the first byte that is neither white space nor part of a comment.
func (l *Lexer) skip() (byte, error) {
	for {
		c, err := l.next()
		if err != nil {
			return 0, err
		}
		switch {
		case c == '%':
			for c != '\n' && c != '\r' {
				if c, err = l.next(); err != nil {
					return 0, err
				}
			}
		case !isSpace(c):
			return c, nil
		}
	}
}

// Next returns the next object or Operator. The error is io.EOF at the end.
func (l *Lexer) Next() (Object, error) {
	l.items = 0
	return l.object(0)
}

func (l *Lexer) object(depth int) (Object, error) {
	c, err := l.skip()
	if err != nil {
		return nil, err
	}
	if l.items++; l.items > maxItems || depth > maxDepth {
		return nil, fmt.Errorf("%w: it is too large", errSyntax)
	}
	switch c {
	case '/':
		return l.name()
	case '(':
		return l.text()
	case '[':
		return l.array(depth)
	case '<':
		if c, err = l.next(); err != nil {
			return nil, err
		}
		if c == '<' {
			return l.dict(depth)
		}
		l.back()
		return l.hex()
	case '>':
		if c, err = l.next(); err == nil && c != '>' {
			l.back()
		}
		return Operator(">>"), nil
	case ']', '{', '}', ')':
		return Operator(c), nil
	}
	l.back()
	return l.wordOrNumber()
}

// token reads up to the next white space or delimiter.
func (l *Lexer) token() ([]byte, error) {
	l.word = l.word[:0]
	for {
		c, err := l.next()
		if errors.Is(err, io.EOF) && len(l.word) > 0 {
			return l.word, nil
		}
		if err != nil {
			return nil, err
		}
		if isSpace(c) || isDelimiter(c) {
			l.back()
			return l.word, nil
		}
		if len(l.word) < maxWord {
			l.word = append(l.word, c)
		}
	}
}

func (l *Lexer) name() (Object, error) {
	word, err := l.token()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	out := make([]byte, 0, len(word))
	for i := 0; i < len(word); i++ {
		if word[i] == '#' && i+2 < len(word) {
			if v, err := strconv.ParseUint(string(word[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, word[i])
	}
	return Name(out), nil
}

func (l *Lexer) wordOrNumber() (Object, error) {
	word, err := l.token()
	if err != nil {
		return nil, err
	}
	if v, ok := number(word); ok {
		if l.refs && v >= 0 && v == float64(int(v)) {
			if ref, ok := l.reference(int(v)); ok {
				return ref, nil
			}
		}
		return v, nil
	}
	switch string(word) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	}
	return Operator(word), nil
}

// number reads a number without exponents, as PDF has them. Two signs or a sign within are read as programs write
// them by mistake: "--5" is 5 below zero, "12-34" is 12.
func number(word []byte) (float64, bool) {
	sign, v, scale, digits := 1.0, 0.0, 0.0, 0
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
			if scale > 0 {
				v += float64(c-'0') * scale
				scale /= 10
				continue
			}
			v = v*10 + float64(c-'0')
		case c == '.' && scale == 0:
			scale = 0.1
		case (c == '+' || c == '-') && digits == 0 && scale == 0:
			if c == '-' {
				sign = -1
			}
		case c == '-' && i > 0:
			return sign * v, digits > 0
		default:
			return 0, false
		}
	}
	return sign * v, digits > 0 || scale > 0 && len(word) > 0
}

// reference reads the rest of "12 0 R" if it follows.
func (l *Lexer) reference(object int) (Ref, bool) {
	ahead, _ := l.in.Peek(16) // fewer at the end
	i := 0
	space := func() {
		for i < len(ahead) && isSpace(ahead[i]) {
			i++
		}
	}
	space()
	start := i
	for i < len(ahead) && ahead[i] >= '0' && ahead[i] <= '9' {
		i++
	}
	generation, err := strconv.Atoi(string(ahead[start:i]))
	if err != nil {
		return Ref{}, false
	}
	space()
	if i >= len(ahead) || ahead[i] != 'R' || i+1 < len(ahead) && !isSpace(ahead[i+1]) && !isDelimiter(ahead[i+1]) {
		return Ref{}, false
	}
	n, _ := l.in.Discard(i + 1)
	l.pos += int64(n)
	return Ref{object, generation}, true
}

// text reads a string in parentheses.
func (l *Lexer) text() (Object, error) {
	var out []byte
	add := func(c byte) {
		if len(out) < maxString {
			out = append(out, c)
		}
	}
	for open := 1; ; {
		c, err := l.next()
		if err != nil {
			return nil, err
		}
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return String(out), nil
			}
		case '\\':
			if err := l.escape(add); err != nil {
				return nil, err
			}
			continue
		}
		add(c)
	}
}

// escape reads what follows a backslash.
func (l *Lexer) escape(add func(byte)) error {
	c, err := l.next()
	if err != nil {
		return err
	}
	switch c {
	case 'n':
		add('\n')
	case 'r':
		add('\r')
	case 't':
		add('\t')
	case 'b':
		add('\b')
	case 'f':
		add('\f')
	case '\n':
	case '\r':
		if c, err := l.next(); err == nil && c != '\n' {
			l.back()
		}
	default:
		if c < '0' || c > '7' {
			add(c)
			return nil
		}
		v := c - '0'
		for range 2 {
			if c, err = l.next(); err != nil {
				return err
			}
			if c < '0' || c > '7' {
				l.back()
				break
			}
			v = v<<3 | (c - '0')
		}
		add(v)
	}
	return nil
}

func (l *Lexer) hex() (Object, error) {
	var out []byte
	half, high := false, byte(0)
	for {
		c, err := l.next()
		if err != nil {
			return nil, err
		}
		var v byte
		switch {
		case c == '>':
			if half {
				out = append(out, high<<4)
			}
			return String(out), nil
		case c >= '0' && c <= '9':
			v = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = c | 0x20 - 'a' + 10
		default:
			continue
		}
		if half && len(out) < maxString {
			out = append(out, high<<4|v)
		}
		half, high = !half, v
	}
}

func (l *Lexer) array(depth int) (Object, error) {
	var out Array
	for {
		item, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if op, ok := item.(Operator); ok {
			if op == "]" {
				return out, nil
			}
			if op == ">>" || op == "endobj" {
				return nil, errSyntax
			}
			continue
		}
		out = append(out, item)
	}
}

func (l *Lexer) dict(depth int) (Object, error) {
	out := Dict{}
	for {
		key, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(Name)
		if !ok {
			if key == Operator(">>") {
				return out, nil
			}
			if key == Operator("endobj") || key == Operator("stream") {
				return nil, errSyntax
			}
			continue
		}
		value, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if value == Operator(">>") {
			return out, nil
		}
		out[name] = value
	}
}

// SkipImage skips an image within a content stream, after its operator BI (8.9.7).
func (l *Lexer) SkipImage() error {
	for {
		o, err := l.Next()
		if err != nil {
			return err
		}
		if o == Operator("ID") {
			break
		}
	}
	// The image ends with the operator EI between white space. Its bytes may look the same, but then what follows
	// is hardly text.
	const ahead = 8
	var last [3]byte
	for {
		c, err := l.next()
		if err != nil {
			return err
		}
		last = [3]byte{last[1], last[2], c}
		if isSpace(last[0]) && last[1] == 'E' && last[2] == 'I' {
			after, _ := l.in.Peek(ahead)
			if len(after) == 0 || isSpace(after[0]) && isText(after) {
				return nil
			}
		}
	}
}

func isText(b []byte) bool {
	for _, c := range b {
		if c >= 0x7F || c < ' ' && !isSpace(c) {
			return false
		}
	}
	return true
}
