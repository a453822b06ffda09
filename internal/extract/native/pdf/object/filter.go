package object

import (
	"bufio"
	"compress/lzw"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"
)

const maxFilters = 4 // of a stream

// Reader returns the decoded bytes of a stream. Streams with images' filters are errors.
func (f *File) Reader(s *Stream) (io.Reader, error) { return f.reader(s, true) }

// reader returns the decoded bytes of a stream; encrypted: unless it is the table of objects, which never is.
func (f *File) reader(s *Stream, encrypted bool) (io.Reader, error) {
	var r io.Reader = &budgeted{io.NewSectionReader(f.in, s.offset, f.length(s)), f}
	names, params := f.filters(s)
	if encrypted && f.crypt != nil && s.Dict["Type"] != Name("XRef") {
		var err error
		if r, err = f.crypt.reader(r, s.ref, f.crypt.streams); err != nil {
			return nil, err
		}
	}
	if len(names) > maxFilters {
		return nil, fmt.Errorf("%w: a stream has %d filters", errSyntax, len(names))
	}
	for i, name := range names {
		decoded, err := f.filter(r, name, params[i])
		if err != nil {
			return nil, err
		}
		r = &budgeted{decoded, f}
	}
	return r, nil
}

// length returns the number of bytes of a stream, up to the end of the file if it isn't known.
func (f *File) length(s *Stream) int64 {
	rest := f.size - s.offset
	n, ok := f.Number(s.Dict["Length"])
	if !ok || n < 0 || int64(n) > rest {
		return max(0, rest)
	}
	return int64(n)
}

func (f *File) filters(s *Stream) (names []Name, params []Dict) {
	of := func(long, short Name) Object {
		if o := f.Resolve(s.Dict[long]); o != nil {
			return o
		}
		return f.Resolve(s.Dict[short])
	}
	parameters := of("DecodeParms", "DP")
	switch v := of("Filter", "F").(type) {
	case Name:
		if list, ok := parameters.(Array); ok && len(list) > 0 {
			parameters = list[0]
		}
		return []Name{v}, []Dict{f.Dict(parameters)}
	case Array:
		list, _ := parameters.(Array)
		for i, o := range v {
			var d Dict
			if i < len(list) {
				d = f.Dict(list[i])
			}
			names, params = append(names, f.Name(o)), append(params, d)
		}
	}
	return names, params
}

func (f *File) filter(r io.Reader, name Name, params Dict) (io.Reader, error) {
	switch name {
	case "FlateDecode", "Fl":
		return f.predict(f.inflate(r), params)
	case "LZWDecode", "LZW":
		if early, ok := f.Number(params["EarlyChange"]); ok && early == 0 {
			return f.predict(lenient{lzw.NewReader(r, lzw.MSB, 8)}, params)
		}
		return f.predict(lenient{tifflzw.NewReader(r, tifflzw.MSB, 8)}, params)
	case "ASCIIHexDecode", "AHx":
		return &hexadecimal{in: &until{bufio.NewReader(r), '>'}}, nil
	case "ASCII85Decode", "A85":
		return lenient{ascii85.NewDecoder(&until{bufio.NewReader(r), '~'})}, nil
	case "RunLengthDecode", "RL":
		return &runLength{in: bufio.NewReader(r)}, nil
	case "Crypt":
		return r, nil
	}
	return nil, fmt.Errorf("%w: a stream has the filter %q", errSyntax, name)
}

// lenient ends where its reader fails: what was decoded until then counts.
type lenient struct{ in io.Reader }

func (l lenient) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if err != nil && !errors.Is(err, errBudget) {
		err = io.EOF
	}
	return n, err
}

// runLength decodes runs (7.4.5).
type runLength struct {
	in   *bufio.Reader
	copy int  // bytes that follow as they are
	more int  // times that again is repeated
	rep  byte // what is repeated
}

func (r *runLength) Read(p []byte) (int, error) {
	for n := range p {
		for r.copy == 0 && r.more == 0 {
			c, err := r.in.ReadByte()
			if err != nil || c == 128 {
				return n, io.EOF
			}
			if c < 128 {
				r.copy = int(c) + 1
				continue
			}
			r.more = 257 - int(c)
			if r.rep, err = r.in.ReadByte(); err != nil {
				return n, io.EOF
			}
		}
		if r.more > 0 {
			r.more--
			p[n] = r.rep
			continue
		}
		c, err := r.in.ReadByte()
		if err != nil {
			return n, io.EOF
		}
		r.copy--
		p[n] = c
	}
	return len(p), nil
}

// maxRow is the length of a row of a predictor, in bytes.
const maxRow = 1 << 20

// predict undoes a predictor (7.4.4.4).
func (f *File) predict(r io.Reader, params Dict) (io.Reader, error) {
	of := func(name Name, without int) int {
		if v, ok := f.Number(params[name]); ok && v >= 1 && v <= maxRow {
			return int(v)
		}
		return without
	}
	kind := of("Predictor", 1)
	if kind == 1 {
		return r, nil
	}
	bits := of("Colors", 1) * of("BitsPerComponent", 8)
	row := (bits*of("Columns", 1) + 7) / 8
	if row > maxRow || bits > 256 || kind == 2 && bits%8 != 0 {
		return nil, fmt.Errorf("%w: a stream has a predictor that can't be undone", errSyntax)
	}
	if f.decoded += 2 * int64(row); f.decodedAll() {
		return nil, errBudget
	}
	return &predicted{
		in: bufio.NewReader(r), kind: kind, pixel: max(1, bits/8), last: make([]byte, row),
		row: make([]byte, row),
	}, nil
}

type predicted struct {
	in        *bufio.Reader
	kind      int
	pixel     int // bytes
	last, row []byte
	left      []byte // of row
}

func (p *predicted) Read(out []byte) (int, error) {
	if len(p.left) == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(out, p.left)
	p.left = p.left[n:]
	return n, nil
}

func (p *predicted) next() error {
	p.last, p.row = p.row, p.last
	filter := byte(1) // TIFF's is that of PNG's left neighbour
	if p.kind != 2 {
		var err error
		if filter, err = p.in.ReadByte(); err != nil {
			return io.EOF
		}
	} else {
		clear(p.last)
	}
	n, err := io.ReadFull(p.in, p.row)
	if n == 0 && err != nil {
		return io.EOF
	}
	clear(p.row[n:])
	for i := range p.row {
		var left, upLeft byte
		if i >= p.pixel {
			left, upLeft = p.row[i-p.pixel], p.last[i-p.pixel]
		}
		up := p.last[i]
		switch filter {
		case 1:
			p.row[i] += left
		case 2:
			p.row[i] += up
		case 3:
			p.row[i] += byte((int(left) + int(up)) / 2)
		case 4:
			p.row[i] += paeth(left, up, upLeft)
		}
	}
	p.left = p.row[:n]
	return nil
}

func paeth(a, b, c byte) byte {
	distance := func(x byte) int {
		d := int(a) + int(b) - int(c) - int(x)
		return max(d, -d)
	}
	switch {
	case distance(a) <= distance(b) && distance(a) <= distance(c):
		return a
	case distance(b) <= distance(c):
		return b
	}
	return c
}
