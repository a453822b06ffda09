package rtf

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	maxWord   = 32   // letters of a control word
	maxDigits = 10   // of its parameter
	ctxEvery  = 4096 // tokens between checks of the context
)

// kind is the kind of a token.
type kind int

const (
	openBrace  kind = iota // {
	closeBrace             // }
	word                   // \name with an optional number
	symbol                 // \ and a character that is not a letter
	char                   // a byte of text
)

// token is one token of the file.
type token struct {
	kind   kind
	word   string
	number int
	has    bool // the word has a number
	byte   byte
	hex    bool // a char written as \'hh
}

// off reports whether the number turns the word off, as in \v0.
func (t token) off() bool { return t.has && t.number == 0 }

// scanner splits a file into tokens.
type scanner struct {
	ctx    context.Context
	r      *bufio.Reader
	tokens int
}

// next returns the next token, or io.EOF at the end of the file.
func (s *scanner) next() (token, error) {
	if s.tokens++; s.tokens%ctxEvery == 0 && s.ctx.Err() != nil {
		return token{}, context.Cause(s.ctx)
	}
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return token{}, err
		}
		switch b {
		case '{':
			return token{kind: openBrace}, nil
		case '}':
			return token{kind: closeBrace}, nil
		case '\\':
			return s.control()
		case '\r', '\n', 0:
			continue
		}
		return token{kind: char, byte: b}, nil
	}
}

func (s *scanner) control() (token, error) {
	b, err := s.r.ReadByte()
	switch {
	case err != nil:
		return token{}, err
	case b == '\'':
		digits := make([]byte, 2)
		if _, err := io.ReadFull(s.r, digits); err != nil {
			return token{}, eof(err)
		}
		if n, failed := strconv.ParseUint(string(digits), 16, 8); failed == nil {
			return token{kind: char, byte: byte(n), hex: true}, nil
		}
		return token{kind: symbol, byte: b}, nil // no text
	case !isLetter(b):
		return token{kind: symbol, byte: b}, nil
	}
	var name strings.Builder
	for err == nil && isLetter(b) {
		if name.Len() < maxWord {
			name.WriteByte(b)
		}
		b, err = s.r.ReadByte()
	}
	t := token{kind: word, word: name.String()}
	digits := make([]byte, 0, maxDigits+1)
	if err == nil && b == '-' {
		digits = append(digits, b)
		b, err = s.r.ReadByte()
	}
	for err == nil && b >= '0' && b <= '9' {
		if len(digits) < maxDigits {
			digits = append(digits, b)
		}
		b, err = s.r.ReadByte()
	}
	if number, failed := strconv.Atoi(string(digits)); failed == nil {
		t.number, t.has = number, true
	}
	if err == nil && b != ' ' { // one space belongs to the word
		err = s.r.UnreadByte()
	}
	if errors.Is(err, io.EOF) {
		err = nil // the next read reports it
	}
	return t, err
}

// discard skips n bytes of binary data.
func (s *scanner) discard(n int) error {
	const piece = 1 << 20
	for n > 0 && s.ctx.Err() == nil {
		skipped, err := s.r.Discard(min(n, piece))
		if err != nil {
			return eof(err)
		}
		n -= skipped
	}
	return nil
}

func eof(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
