// Package wellformed checks that foreign XML and JSON are well-formed while they stream to somewhere else. It keeps
// neither a document nor a large part of one in memory, and refuses what only hurts readers: a DOCTYPE, entities of its
// own, deep nesting, huge tokens.
package wellformed

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what a document makes its reader hold. Zero fields: DefaultLimits.
type Limits struct {
	Depth int   // elements, objects or arrays within each other
	Token int64 // bytes of one text, tag, comment, key or value
}

// DefaultLimits suit an invoice with attachments in it.
var DefaultLimits = Limits{Depth: 256, Token: 16 << 20}

func (l Limits) withDefaults() Limits {
	if l.Depth <= 0 {
		l.Depth = DefaultLimits.Depth
	}
	if l.Token <= 0 {
		l.Token = DefaultLimits.Token
	}
	return l
}

// ErrEmpty reports a document without content.
var ErrEmpty = errors.New("it is empty")

// Error says what is wrong with a document. It holds none of the document's text.
type Error struct {
	Problem string
	Offset  int64 // bytes before it
}

func (e *Error) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Problem, e.Offset) }

func broken(at int64, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), at}
}

// errToken is the error of a read that would make a token too large.
var errToken = errors.New("a token is too large")

// source counts what a decoder has read, and refuses to read on within a token that is too large. A decoder holds the
// token that it reads, so this bounds its memory.
type source struct {
	from   io.Reader
	limit  int64
	read   int64        // bytes that were read
	used   func() int64 // bytes that the decoder has used, up to the end of the last token
	failed error        // of from, except io.EOF
}

// ahead is how far a decoder and its buffer may read beyond a token.
const ahead = 64 << 10

func (s *source) Read(b []byte) (int, error) {
	if s.used != nil && s.read-s.used() > s.limit+ahead {
		return 0, errToken
	}
	n, err := s.from.Read(b)
	s.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}
