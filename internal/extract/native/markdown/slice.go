package markdown

import (
	"bufio"
	"bytes"
	"errors"
	"regexp"
)

const (
	maxLine   = 32 << 10 // bytes; a longer line is read in pieces
	wantSlice = 32 << 10 // bytes; a slice that has as many ends at the next good place
	maxSlice  = 64 << 10 // bytes; it ends wherever it is: the parser's time can grow with the square
)

// slicer cuts a file at places where no block goes on.
type slicer struct {
	lines *bufio.Reader
	fence []byte // of the open code block; nil: none
	rest  []byte // the first line of the next slice
	ended error
}

var (
	fenceLine = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})([^\n]*)")
	topLine   = regexp.MustCompile(`^(?:#{1,6}[ \t]|[\pL"'(\[*_])`)
	listLine  = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
)

// next returns the next slice; with an error (io.EOF at the end) the last one.
func (s *slicer) next() ([]byte, error) {
	slice := s.rest
	s.rest = nil
	blank := false // the line before is blank
	for s.ended == nil {
		piece, err := s.lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			s.ended = err
		}
		heading := len(piece) > 0 && piece[0] == '#'
		fits := s.fence == nil && (heading || blank && topLine.Match(piece) && !listLine.Match(piece))
		if len(slice) > wantSlice && fits || len(slice)+len(piece) > maxSlice && len(slice) > 0 {
			s.rest = bytes.Clone(piece)
			s.follow(piece)
			return slice, nil
		}
		slice = append(slice, piece...)
		s.follow(piece)
		blank = len(bytes.TrimSpace(piece)) == 0
	}
	return slice, s.ended
}

// follow notices where a fenced code block begins and ends.
func (s *slicer) follow(line []byte) {
	m := fenceLine.FindSubmatch(line)
	switch {
	case m == nil:
	case s.fence == nil:
		s.fence = bytes.Clone(m[1])
	case m[1][0] == s.fence[0] && len(m[1]) >= len(s.fence) && len(bytes.TrimSpace(m[2])) == 0:
		s.fence = nil
	}
}
