package compound

import (
	"io"
	"strings"
)

// Stream returns the content of a stream, empty if there is none. If a part of it is missing in the file, or more was
// read than Spent allows, it ends with io.ErrUnexpectedEOF.
func (f *File) Stream(path string) io.Reader {
	e, ok := f.entries[key(path)]
	if !ok || e.kind != stream {
		return strings.NewReader("")
	}
	r := &reader{f: f, mini: e.size < miniCutoff, left: e.size}
	if r.mini {
		r.chain, _ = follow(f.mini, e.start, (e.size+miniSector-1)/miniSector) // what is missing is noticed by its size
	} else {
		r.chain, _ = f.chain(e.start, (e.size+f.sector-1)/f.sector) // as above
	}
	f.left -= 4 * int64(len(r.chain))
	return r
}

// Spent reports whether streams ended early because more than the file's size justifies was read of all of them: their
// sectors overlap.
func (f *File) Spent() bool { return f.left < 0 }

// Read returns at most limit bytes from the start of a stream.
func (f *File) Read(path string, limit int64) []byte {
	content, _ := io.ReadAll(io.LimitReader(f.Stream(path), limit)) // what is missing is missing at its end
	return content
}

// reader reads one sector after the other.
type reader struct {
	f     *File
	chain []uint32
	mini  bool
	rest  []byte
	left  int64 // bytes of the stream
}

func (r *reader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	if len(r.rest) == 0 {
		if len(r.chain) == 0 || r.f.Spent() {
			return 0, io.ErrUnexpectedEOF
		}
		data, err := r.next(r.chain[0])
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		r.f.left -= int64(len(data))
		r.chain, r.rest = r.chain[1:], data
	}
	n := copy(p, r.rest[:min(int64(len(r.rest)), r.left)])
	r.rest, r.left = r.rest[n:], r.left-int64(n)
	return n, nil
}

func (r *reader) next(number uint32) ([]byte, error) {
	if !r.mini {
		return r.f.read(number)
	}
	at := int64(number) * miniSector
	if index := at / r.f.sector; index < int64(len(r.f.inMini)) {
		data, err := r.f.read(r.f.inMini[index])
		if err != nil {
			return nil, err
		}
		return data[at%r.f.sector:][:miniSector], nil
	}
	return nil, errDamaged
}
