package markdown

import (
	"bufio"
	"bytes"
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	maxLine     = 32 << 10 // bytes; a longer line is read in pieces
	sliceTarget = 32 << 10 // bytes after which a slice ends at the next block boundary
	maxSlice    = 64 << 10 // bytes after which a slice ends anywhere; the parser's time can be quadratic
	maxMarks    = 4000     // of links and emphasis per slice; the parser's time is quadratic in them
)

// slice is a part of a file.
type slice struct {
	text      []byte
	continued bool // it begins with the header of a table that the slice before has begun
}

// slicer cuts a file between blocks.
type slicer struct {
	opening
	lines *bufio.Reader
	rest  slice // the start of the next one
	ended error

	line    []byte // unread rest of the last line
	lineEnd error  // the error that came with it
}

var (
	topLine  = pattern.New(`^(?:#{1,6}[ \t]|[\pL"'(\[*_])`)
	listLine = pattern.New(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
)

// next returns the next slice. The last one comes with an error, io.EOF at the end of the file.
func (s *slicer) next() (slice, error) {
	next := s.rest
	s.rest = slice{}
	count := 0
	if s.fence == nil {
		count = marks(next.text)
	}
	blank := false // the previous line is blank
	for s.ended == nil {
		piece, here, err := s.piece()
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			s.ended = err
		}
		if s.fence == nil && nesting(piece) > maxDepth {
			return slice{}, errTooDeep()
		}
		heading := len(piece) > 0 && piece[0] == '#'
		fits := s.fence == nil && (heading || blank && topLine.Match(piece) && !listLine.Match(piece))
		long := len(next.text) > sliceTarget || count > maxMarks/2
		if long && fits || (len(next.text)+len(piece) > maxSlice || count+here > maxMarks) && len(next.text) > 0 {
			s.rest = s.resume(piece)
			s.follow(piece)
			return next, nil
		}
		next.text = append(next.text, piece...)
		count += here
		s.follow(piece)
		blank = len(bytes.TrimSpace(piece)) == 0
	}
	return next, s.ended
}

// piece returns the next line, or a piece of a long line, with the number of its marks. The bytes are valid
// until the next call.
func (s *slicer) piece() (piece []byte, count int, err error) {
	if len(s.line) == 0 {
		s.line, s.lineEnd = s.lines.ReadSlice('\n')
	}
	piece = s.line
	if s.fence == nil {
		for i, b := range s.line {
			if !isMark(b) {
				continue
			}
			if count++; count > maxMarks/2 {
				piece, s.line = s.line[:i+1], s.line[i+1:]
				return piece, count, nil
			}
		}
	}
	s.line = nil
	return piece, count, s.lineEnd
}

// isMark reports whether a character may begin a link or emphasis.
func isMark(b byte) bool { return b == '[' || b == '*' || b == '_' }

func marks(text []byte) (count int) {
	for _, b := range text {
		if isMark(b) {
			count++
		}
	}
	return count
}

// nesting counts the quotations and lists around a line. A line of dashes or stars is a thematic break.
func nesting(line []byte) (depth int) {
	if len(bytes.Trim(line, "-* \t\r\n")) == 0 {
		return 0
	}
	for {
		line = bytes.TrimLeft(line, " \t")
		digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		switch {
		case len(line) > digits+1 && digits > 0 && (line[digits] == '.' || line[digits] == ')') &&
			line[digits+1] == ' ':
			line = line[digits+2:]
		case len(line) > 0 && line[0] == '>':
			line = line[1:]
		case len(line) > 1 && bytes.IndexByte([]byte("-*+"), line[0]) >= 0 && line[1] == ' ':
			line = line[2:]
		default:
			return depth
		}
		depth++
	}
}
