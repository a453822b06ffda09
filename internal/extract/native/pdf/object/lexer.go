package object

import (
	"bytes"
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
	maxWord   = 256      // bytes of a name, a number or an operator
	maxHeld   = 16 << 20 // bytes of memory, about: of an object
	itemHeld  = 48       // of those, for an item without its text
)

var (
	errSyntax   = errors.New("the PDF has an object that is not well-formed")
	errTooLarge = fmt.Errorf("%w: it is too large", errSyntax)
)

// Operator is an operator of a content stream, or a keyword such as "obj".
type Operator string

// Lexer reads objects and operators one after the other.
type Lexer struct {
	input

	items int  // of the object that is read
	held  int  // its memory, about
	refs  bool // "1 0 R" is a reference: not so in content streams
	empty bool // strings and arrays are read as empty ones
	shown shown
	word  []byte
}

// NewLexer returns a Lexer of a content stream.
func NewLexer(r io.Reader) *Lexer { return &Lexer{input: newInput(r, 4<<10)} }

// NewContentLexer returns a Lexer of a content stream that reads strings and arrays as empty ones: most of a page is its
// text, of which Shown returns the last.
func NewContentLexer(r io.Reader) *Lexer {
	l := NewLexer(r)
	l.empty = true
	return l
}

func isSpace(c byte) bool {
	const all = 1<<' ' | 1<<'\n' | 1<<'\r' | 1<<'\t' | 1<<'\f' | 1<<0
	return c <= ' ' && uint64(all)>>c&1 != 0
}

func isDelimiter(c byte) bool {
	const (
		half = 64
		low  = 1<<'(' | 1<<')' | 1<<'<' | 1<<'>' | 1<<'/' | 1<<'%'
		high = 1<<('['-half) | 1<<(']'-half) | 1<<('{'-half) | 1<<('}'-half)
	)
	if c < half {
		return uint64(low)>>c&1 != 0
	}
	return c < 2*half && uint64(high)>>(c-half)&1 != 0
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
	l.items, l.held = 0, 0
	return l.object(0)
}

// Held returns about how many bytes of memory the last object takes.
func (l *Lexer) Held() int { return l.held }

func (l *Lexer) object(depth int) (Object, error) {
	c, err := l.skip()
	if err != nil {
		return nil, err
	}
	l.items++
	if l.held += itemHeld; l.items > maxItems || l.held > maxHeld || depth > maxDepth {
		return nil, errTooLarge
	}
	switch c {
	case '/':
		return l.name()
	case '(':
		if l.empty {
			l.restart(depth)
			return String(""), l.keepText()
		}
		return l.text()
	case '[':
		if l.empty {
			l.restart(depth)
			return Array(nil), l.keepArray(depth)
		}
		return l.array(depth)
	case '<':
		if c, err = l.next(); err != nil {
			return nil, err
		}
		if c == '<' {
			return l.dict(depth)
		}
		l.back()
		if l.empty {
			l.restart(depth)
			return String(""), l.keepHex()
		}
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

// restart forgets what was shown before an operand.
func (l *Lexer) restart(depth int) {
	if depth == 0 {
		l.shown.reset()
	}
}

// token reads up to the next white space or delimiter. The word is valid until the next call.
func (l *Lexer) token() ([]byte, error) {
	for n, c := range l.ahead() {
		if isSpace(c) || isDelimiter(c) {
			word := l.ahead()[:min(n, maxWord)]
			l.at += n
			return word, nil
		}
	}
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

// Number reads the next object if it is a number of a content stream, and otherwise nothing. It may return false of a
// number, which Next returns then. Most of what a page draws is numbers, and as an Object each takes memory of its own.
func (l *Lexer) Number() (v float64, ok bool) {
	ahead := l.ahead()
	start := 0
	for start < len(ahead) && isSpace(ahead[start]) {
		start++
	}
	for end := start; end < len(ahead); end++ {
		if c := ahead[end]; isSpace(c) || isDelimiter(c) {
			if v, ok = number(ahead[start:min(end, start+maxWord)]); ok {
				l.at += end
				l.items, l.held = 1, itemHeld
			}
			return v, ok
		}
	}
	return 0, false
}

func (l *Lexer) name() (Object, error) {
	word, err := l.token()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.IndexByte(word, '#') < 0 {
		return Name(word), nil
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
	if o, ok := operators()[string(word)]; ok {
		return o, nil
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
	ahead := l.peek(16)
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
	l.at += i + 1
	return Ref{object, generation}, true
}
