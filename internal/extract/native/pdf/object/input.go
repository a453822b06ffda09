package object

import "io"

// input is the bytes of a reader that a Lexer reads, some thousand at a time. It is as bufio.Reader, and open to the
// Lexer: most of a content stream is words of few bytes, for each of which a call costs more than to read it.
type input struct {
	r    io.Reader
	buf  []byte
	at   int   // of the next byte in buf
	end  int   // of the bytes in buf
	base int64 // bytes that were read before those in buf
	err  error // that came with the last bytes in buf
}

func newInput(r io.Reader, size int) input { return input{r: r, buf: make([]byte, size)} }

func (in *input) reset(r io.Reader) { in.r, in.at, in.end, in.base, in.err = r, 0, 0, 0, nil }

// pos returns how many bytes were read.
func (in *input) pos() int64 { return in.base + int64(in.at) }

// ahead returns the bytes that can be read without a call of the reader.
func (in *input) ahead() []byte { return in.buf[in.at:in.end] }

// fill reads more bytes. There must be room for them.
func (in *input) fill() error {
	const most = 100 // calls without a byte
	if err := in.err; err != nil {
		in.err = nil
		return err
	}
	copy(in.buf, in.buf[in.at:in.end])
	in.base += int64(in.at)
	in.at, in.end = 0, in.end-in.at
	for range most {
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		if n > 0 {
			in.err = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

func (in *input) next() (byte, error) {
	if in.at == in.end {
		if err := in.fill(); err != nil {
			return 0, err
		}
	}
	in.at++
	return in.buf[in.at-1], nil
}

// back gives back the byte that next has returned.
func (in *input) back() { in.at-- }

// peek returns the next n bytes, or fewer at the end.
func (in *input) peek(n int) []byte {
	for in.end-in.at < n {
		if in.fill() != nil {
			break
		}
	}
	return in.buf[in.at:min(in.at+n, in.end)]
}
