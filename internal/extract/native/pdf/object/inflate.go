package object

import (
	"bufio"
	"compress/flate"
	"errors"
	"io"
)

// inflater decodes one stream after another. It takes 44 KB: a map that draws each of its thousand symbols as a stream of
// its own would leave as much garbage as a large document has text.
type inflater struct {
	in  *bufio.Reader
	out io.Reader // also a flate.Resetter
}

// inflate returns the decoded bytes of a stream, with zlib's header or without.
func (f *File) inflate(r io.Reader) io.Reader {
	var i *inflater
	if last := len(f.inflaters) - 1; last >= 0 {
		i, f.inflaters = f.inflaters[last], f.inflaters[:last]
		i.in.Reset(r)
	} else {
		i = &inflater{in: bufio.NewReader(r)}
		i.out = flate.NewReader(i.in)
	}
	if head, err := i.in.Peek(2); err == nil && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		_, _ = i.in.Discard(2) // they were peeked at
	}
	if again, ok := i.out.(flate.Resetter); !ok || again.Reset(i.in, nil) != nil {
		i.out = flate.NewReader(i.in)
	}
	return &inflated{f, i}
}

// inflated is a stream that is being decoded. As lenient does, it ends where the decoder fails; then the decoder is free
// for another stream.
type inflated struct {
	file *File
	by   *inflater // nil: it has ended
}

func (s *inflated) Read(p []byte) (int, error) {
	if s.by == nil {
		return 0, io.EOF
	}
	n, err := s.by.out.Read(p)
	if err == nil || errors.Is(err, errBudget) {
		return n, err
	}
	s.file.inflaters = append(s.file.inflaters, s.by)
	s.by = nil
	return n, io.EOF
}
