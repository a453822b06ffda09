package object

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"io"
)

// inflater decodes one stream after another. It takes 44 KB: a map that draws each of its thousand symbols as a stream of
// its own would leave as much garbage as a large document has text.
type inflater struct {
	in  *bufio.Reader
	out io.Reader   // also a flate.Resetter
	sum hash.Hash32 // of what was decoded; nil: the stream has no checksum
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
	i.sum = nil
	if head, err := i.in.Peek(2); err == nil && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		_, _ = i.in.Discard(2) // they were peeked at
		i.sum = adler32.New()
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
	if s.by.sum != nil {
		_, _ = s.by.sum.Write(p[:n]) // it never fails
	}
	if err == nil || errors.Is(err, errBudget) {
		return n, err
	}
	if s.by.broken(err) {
		s.file.broken++
	}
	s.file.inflaters = append(s.file.inflaters, s.by)
	s.by = nil
	return n, io.EOF
}

// broken reports whether a stream that ended with err has other bytes than those that were written: its data is none, or
// its checksum that of another text. A stream that only ends early may have a wrong length, which other readers mend.
func (i *inflater) broken(err error) bool {
	if _, corrupt := errors.AsType[flate.CorruptInputError](err); corrupt {
		return true
	}
	if !errors.Is(err, io.EOF) || i.sum == nil {
		return false
	}
	var sum [4]byte
	_, err = io.ReadFull(i.in, sum[:])
	return err == nil && binary.BigEndian.Uint32(sum[:]) != i.sum.Sum32()
}

// Broken returns how many streams were found to be damaged so far, among those that were read.
func (f *File) Broken() int { return f.broken }
