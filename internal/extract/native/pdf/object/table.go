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
	if f.spent() {
		return nil, errLexed
	}
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
