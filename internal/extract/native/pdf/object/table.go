package object

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxTables is how many cross-reference tables a file may have: one for each time that it was changed.
const maxTables = 200

// readTables reads the cross-reference tables from the last one on (7.5.4, 7.5.8).
func (f *File) readTables() error {
	end := make([]byte, min(f.size, 2048))
	if _, err := f.in.ReadAt(end, f.size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the end of the PDF: %w", err)
	}
	at := bytes.LastIndex(end, []byte("startxref"))
	if at < 0 {
		return fmt.Errorf("%w: it has no table of objects", errDamaged)
	}
	v, err := NewLexer(bytes.NewReader(end[at+len("startxref"):])).Next()
	offset, ok := Number(v)
	if err != nil || !ok {
		return fmt.Errorf("%w: its end is damaged", errDamaged)
	}
	next := []int64{int64(offset)}
	seen := map[int64]bool{}
	for len(next) > 0 {
		offset := next[0]
		next = next[1:]
		if seen[offset] {
			continue
		}
		if seen[offset] = true; len(seen) > maxTables || offset < 0 || offset >= f.size {
			return fmt.Errorf("%w: its tables of objects are damaged", errDamaged)
		}
		trailer, err := f.readTable(f.start + offset)
		if err != nil {
			return err
		}
		if f.trailer == nil {
			f.trailer = trailer
		}
		for _, key := range []Name{"XRefStm", "Prev"} {
			if v, ok := Number(trailer[key]); ok {
				next = append(next, int64(v))
			}
		}
	}
	return nil
}

// readTable reads the table at an offset and returns its trailer. Entries of later tables count.
func (f *File) readTable(offset int64) (Dict, error) {
	l, free := f.lexer(offset)
	defer free()
	word, err := l.Next()
	if err != nil {
		return nil, err
	}
	if word != Operator("xref") {
		return f.readStreamTable(offset)
	}
	for {
		o, err := l.Next()
		if err != nil {
			return nil, err
		}
		if o == Operator("trailer") {
			break
		}
		first, ok := Number(o)
		o, err = l.Next()
		n, ok2 := Number(o)
		if err != nil || !ok || !ok2 || first < 0 || n < 0 || first+n > maxObjects {
			return nil, errSyntax
		}
		if err := f.readSection(l, int(first), int(n)); err != nil {
			return nil, err
		}
	}
	o, err := l.Next()
	trailer, ok := o.(Dict)
	if err != nil || !ok {
		return nil, errSyntax
	}
	return trailer, nil
}

// readSection reads n entries "0000000123 00000 n".
func (f *File) readSection(l *Lexer, first, n int) error {
	for i := range n {
		a, err := l.Next()
		if err != nil {
			return err
		}
		if _, err = l.Next(); err != nil {
			return err
		}
		kind, err := l.Next()
		if err != nil {
			return err
		}
		offset, ok := Number(a)
		if !ok || kind != Operator("n") && kind != Operator("f") {
			return errSyntax
		}
		f.place(first+i, place{offset: int64(offset), known: kind == Operator("n")})
	}
	return nil
}

// place records where an object is unless a later table did.
func (f *File) place(number int, at place) {
	if number < 0 || number >= maxObjects {
		return
	}
	for len(f.places) <= number {
		f.places = append(f.places, place{offset: -1})
	}
	if old := &f.places[number]; !old.known && old.offset < 0 {
		*old = at
		old.offset = max(0, old.offset)
	}
}

// readStreamTable reads a table that is a stream.
func (f *File) readStreamTable(offset int64) (Dict, error) {
	_, o, err := f.objectAt(offset)
	if err != nil {
		return nil, err
	}
	s, ok := o.(*Stream)
	if !ok || s.Dict["Type"] != Name("XRef") {
		return nil, errSyntax
	}
	var widths [3]int
	w, _ := s.Dict["W"].(Array)
	if len(w) < len(widths) {
		return nil, errSyntax
	}
	for i := range widths {
		v, ok := Number(w[i])
		if !ok || v < 0 || v > 8 {
			return nil, errSyntax
		}
		widths[i] = int(v)
	}
	size, _ := Number(s.Dict["Size"])
	sections, _ := s.Dict["Index"].(Array)
	if sections == nil {
		sections = Array{0.0, size}
	}
	r, err := f.reader(s, false)
	if err != nil {
		return nil, err
	}
	entry := make([]byte, widths[0]+widths[1]+widths[2])
	for ; len(sections) >= 2; sections = sections[2:] {
		first, ok := Number(sections[0])
		n, ok2 := Number(sections[1])
		if !ok || !ok2 || first < 0 || n < 0 || first+n > maxObjects || len(entry) == 0 {
			return nil, errSyntax
		}
		for i := range int(n) {
			if _, err := io.ReadFull(r, entry); err != nil {
				return s.Dict, nil //nolint:nilerr // the entries that are there count
			}
			f.packedPlace(int(first)+i, entry, widths)
		}
	}
	return s.Dict, nil
}

// packedPlace records an entry of a table that is a stream.
func (f *File) packedPlace(number int, entry []byte, widths [3]int) {
	var field [3]int64
	for i, w := range widths {
		for _, c := range entry[:w] {
			field[i] = field[i]<<8 | int64(c)
		}
		entry = entry[w:]
	}
	kind := field[0]
	if widths[0] == 0 {
		kind = 1
	}
	switch kind {
	case 0:
		f.place(number, place{})
	case 1:
		f.place(number, place{offset: field[1], known: true})
	case 2:
		if field[1] > 0 && field[1] < maxObjects {
			f.place(number, place{offset: field[2], stream: int32(field[1]), known: true})
		}
	}
}

// maxSearch is how many bytes of a file without a table are searched for its objects.
const maxSearch = 256 << 20

// search rebuilds the table from the objects in the file: the last one of a number counts.
func (f *File) search() error {
	f.places, f.trailer, f.crypt, f.packed = nil, nil, nil, nil
	const chunk, overlap = 1 << 20, 64
	buffer := make([]byte, chunk+overlap)
	for offset := int64(0); offset < min(f.size, maxSearch); offset += chunk {
		n, err := f.in.ReadAt(buffer, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the PDF: %w", err)
		}
		f.searchIn(buffer[:n], offset, min(n, chunk))
	}
	if f.trailer == nil {
		f.trailer = Dict{}
	}
	return f.searchStreams()
}

// searchIn finds the objects and trailers that begin in the first n bytes of data, which is at an offset.
func (f *File) searchIn(data []byte, offset int64, n int) {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(" obj"))
		if i < 0 {
			break
		}
		at += i + 1
		start, number := objectBefore(data, at-1)
		if start < 0 || start >= n || number >= maxObjects {
			continue
		}
		for len(f.places) <= number {
			f.places = append(f.places, place{})
		}
		f.places[number] = place{offset: offset + int64(start) - f.start, known: true}
	}
	for at := 0; ; at++ {
		i := bytes.Index(data[at:min(len(data), n+len("trailer"))], []byte("trailer"))
		if i < 0 {
			return
		}
		at += i
		l, free := f.lexer(offset + int64(at+len("trailer")))
		o, _ := l.Next()
		free()
		if d, ok := o.(Dict); ok && d["Root"] != nil {
			f.trailer = d
		}
	}
}

// objectBefore returns where "12 0" before a position begins, and its first number; -1 if it is none.
func objectBefore(data []byte, end int) (start, number int) {
	back := func(i int) int {
		for i > 0 && data[i-1] >= '0' && data[i-1] <= '9' {
			i--
		}
		return i
	}
	generation := back(end)
	if generation == end || generation == 0 || !isSpace(data[generation-1]) {
		return -1, 0
	}
	start = back(generation - 1)
	if start == generation-1 || generation-1-start > 9 {
		return -1, 0
	}
	for _, c := range data[start : generation-1] {
		number = number*10 + int(c-'0')
	}
	return start, number
}

// searchStreams reads the objects within streams of objects, and the trailer of a file whose tables are streams.
func (f *File) searchStreams() error {
	streams := 0
	for number := range len(f.places) {
		if !f.places[number].known || f.places[number].stream > 0 {
			continue
		}
		s, ok := f.Resolve(Ref{number, 0}).(*Stream)
		if !ok {
			continue
		}
		switch s.Dict["Type"] {
		case Name("XRef"):
			if s.Dict["Root"] != nil && f.trailer["Root"] == nil {
				f.trailer = s.Dict
			}
		case Name("ObjStm"):
			if f.trailer["Encrypt"] != nil { // what is in it can't be read yet
				continue
			}
			if streams++; streams > maxTables*10 {
				return fmt.Errorf("%w: it has too many streams of objects", errDamaged)
			}
			p, err := f.packedAt(number)
			if err != nil {
				continue
			}
			for inner := range p.offsets {
				if inner >= len(f.places) || !f.places[inner].known {
					if inner < 0 || inner >= maxObjects {
						continue
					}
					for len(f.places) <= inner {
						f.places = append(f.places, place{})
					}
					f.places[inner] = place{stream: int32(number), known: true}
				}
			}
		case Name("Catalog"):
		}
	}
	if f.trailer["Root"] == nil {
		for number := range len(f.places) {
			if d := f.Dict(Ref{number, 0}); d["Type"] == Name("Catalog") {
				f.trailer = Dict{"Root": Ref{number, 0}}
			}
		}
	}
	return nil
}
