package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxObjects is how many objects a file may have: 16 bytes of memory each.
const maxObjects = 2_000_000

// place is where an object is.
type place struct {
	offset int64 // in the file; of an object in a stream: its number there
	stream int32 // the stream that holds it; 0: the file
	known  bool
}

// File is an open PDF file. It is not safe for concurrent use.
type File struct {
	in      io.ReaderAt
	size    int64
	start   int64 // of the header: offsets count from it
	places  []place
	trailer Dict
	crypt   *crypt
	lexers  []*Lexer // that are free

	inflaters []*inflater // that are free
	packed    []*packed
	searched  bool  // the table is of a search
	partly    bool  // objects of streams were not read
	depth     int   // of calls that read objects to read an object
	decoded   int64 // bytes of streams that were read and decoded, see budgeted
	lexed     int64 // bytes that were read to read objects, see spend
	broken    int   // streams, see Broken
	least     least
}

// errDamaged wraps the reasons why a file can't be read.
var errDamaged = errors.New("the objects of the PDF can't be read")

// Open reads the cross-reference table of a file, or searches the file for its objects, until ctx ends.
func Open(ctx context.Context, in io.ReaderAt, size int64) (*File, error) {
	return open(ctx, in, size, least{decoded: leastBudget, lexed: leastLexed})
}

func open(ctx context.Context, in io.ReaderAt, size int64, least least) (*File, error) {
	f := &File{in: in, size: size, least: least}
	head := make([]byte, min(size, 1024))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the PDF: %w", err)
	}
	f.start = max(0, int64(bytes.Index(head, []byte("%PDF-"))))
	if err := f.readTables(); err != nil || !f.hasPages() {
		if err := f.search(ctx); err != nil {
			return nil, err
		}
	}
	if !f.hasPages() {
		return nil, fmt.Errorf("%w: it has no pages", errDamaged)
	}
	return f, nil
}

func (f *File) hasPages() bool {
	if f.crypt == nil && f.trailer["Encrypt"] != nil {
		if err := f.decrypt(); err != nil {
			return false
		}
	}
	root, _ := f.Resolve(f.trailer["Root"]).(Dict)
	pages, _ := f.Resolve(root["Pages"]).(Dict)
	return pages != nil
}

// Root returns the document's catalog.
func (f *File) Root() Dict { return f.Dict(f.trailer["Root"]) }

// Dict returns the dictionary that o is or refers to, or that of a stream; otherwise nil, which may be read.
func (f *File) Dict(o Object) Dict {
	switch v := f.Resolve(o).(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// Array returns the array that o is or refers to, or nil.
func (f *File) Array(o Object) Array {
	v, _ := f.Resolve(o).(Array)
	return v
}

// Number returns the number that o is or refers to.
func (f *File) Number(o Object) (float64, bool) { return Number(f.Resolve(o)) }

// Name returns the name that o is or refers to, or "".
func (f *File) Name(o Object) Name {
	v, _ := f.Resolve(o).(Name)
	return v
}

// maxNested limits how many objects are read while an object is read: the length of a stream, the stream that
// holds it.
const maxNested = 8

// Resolve returns the object that a reference refers to, and any other object itself. A missing or damaged object
// is nil.
func (f *File) Resolve(o Object) Object {
	for range maxNested {
		ref, ok := o.(Ref)
		if !ok {
			return o
		}
		if f.depth >= maxNested || ref.Object < 0 || ref.Object >= len(f.places) || !f.places[ref.Object].known {
			return nil
		}
		f.depth++
		found, err := f.read(ref, f.places[ref.Object])
		f.depth--
		if err != nil {
			return nil
		}
		o = found
	}
	return nil
}

func (f *File) read(ref Ref, at place) (Object, error) {
	if at.stream > 0 {
		return f.unpack(int(at.stream), ref.Object)
	}
	number, o, err := f.objectAt(f.start + at.offset)
	if err == nil && number != ref.Object {
		err = errSyntax
	}
	return o, err
}

// lexer returns a Lexer of the file from an offset on. The caller frees it.
func (f *File) lexer(offset int64) (*Lexer, func()) {
	var l *Lexer
	if n := len(f.lexers); n > 0 {
		l, f.lexers = f.lexers[n-1], f.lexers[:n-1]
	} else {
		l = &Lexer{input: newInput(nil, 2<<10), refs: true}
	}
	l.reset(io.NewSectionReader(f.in, offset, max(0, f.size-offset)))
	return l, func() {
		f.spend(l.pos())
		f.lexers = append(f.lexers, l)
	}
}

// objectAt reads "12 0 obj … endobj" and returns its number.
func (f *File) objectAt(offset int64) (number int, o Object, err error) {
	if f.spent() {
		return 0, nil, errLexed
	}
	l, free := f.lexer(offset)
	defer free()
	var head [2]float64
	for i := range head {
		o, err := l.Next()
		if err != nil {
			return 0, nil, err
		}
		v, ok := Number(o)
		if !ok {
			return 0, nil, errSyntax
		}
		head[i] = v
	}
	if word, err := l.Next(); err != nil || word != Operator("obj") {
		return 0, nil, errSyntax
	}
	ref := Ref{int(head[0]), int(head[1])}
	o, err = l.Next()
	if err != nil {
		return 0, nil, err
	}
	dict, ok := o.(Dict)
	if !ok {
		return ref.Object, o, nil
	}
	if word, err := l.Next(); err != nil || word != Operator("stream") {
		return ref.Object, dict, nil // the dictionary is complete
	}
	// The keyword ends with a line feed, alone or after a carriage return.
	if c, err := l.next(); err == nil && c == '\r' {
		if c, err := l.next(); err == nil && c != '\n' {
			l.back()
		}
	} else if err == nil && c != '\n' {
		l.back()
	}
	return ref.Object, &Stream{dict, ref, offset + l.pos()}, nil
}

// packed is a stream of objects (7.5.7).
type packed struct {
	stream  int
	data    []byte
	offsets map[int]int // by object number
}

const (
	maxPacked     = 4 << 20 // bytes of one stream of objects
	packedAtOnce  = 4       // that are kept
	maxPackedSize = 200_000 // objects in one
)

// unpack reads an object from a stream of objects.
func (f *File) unpack(stream, number int) (Object, error) {
	p, err := f.packedAt(stream)
	if err != nil {
		return nil, err
	}
	at, ok := p.offsets[number]
	if !ok || at > len(p.data) {
		return nil, errSyntax
	}
	if f.spent() {
		return nil, errLexed
	}
	l := &Lexer{input: newInput(bytes.NewReader(p.data[at:]), 512), refs: true}
	o, err := l.Next()
	f.spend(l.pos())
	return o, err
}

func (f *File) packedAt(stream int) (*packed, error) {
	for _, p := range f.packed {
		if p.stream == stream {
			return p, nil
		}
	}
	at := f.places[min(stream, len(f.places)-1)]
	if !at.known || at.stream > 0 || stream >= len(f.places) {
		return nil, errSyntax
	}
	s, ok := f.Resolve(Ref{stream, 0}).(*Stream)
	if !ok {
		return nil, errSyntax
	}
	r, err := f.Reader(s)
	if err != nil {
		return nil, err
	}
	p := &packed{stream: stream, offsets: map[int]int{}}
	if p.data, err = io.ReadAll(io.LimitReader(r, maxPacked)); err != nil && len(p.data) == 0 {
		return nil, err
	}
	n, _ := f.Number(s.Dict["N"])
	first, _ := f.Number(s.Dict["First"])
	l := NewLexer(bytes.NewReader(p.data))
	f.partly = f.partly || n > maxPackedSize
	for range min(int(n), maxPackedSize) {
		a, err := l.Next()
		if err != nil {
			break
		}
		b, err := l.Next()
		if err != nil {
			break
		}
		number, ok1 := Number(a)
		offset, ok2 := Number(b)
		if !ok1 || !ok2 || offset < 0 || first < 0 {
			return nil, errSyntax
		}
		if offset+first <= maxPacked { // the rest was not read
			p.offsets[int(number)] = int(offset + first)
		}
		f.partly = f.partly || offset+first >= maxPacked
	}
	if f.packed = append(f.packed, p); len(f.packed) > packedAtOnce {
		f.packed = append(f.packed[:0], f.packed[1:]...)
	}
	return p, nil
}
