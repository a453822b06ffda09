// Package object finds what poppler's programs don't print of a PDF file: the comments on its pages, and whether there
// are files in it. It reads all objects of the file one after the other (ISO 32000-1, 7.5), without its table of
// objects, which may be damaged; of an object with several versions the last one counts.
package object

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	window     = 1 << 20  // bytes of the file that are held at a time
	maxObject  = 64 << 10 // bytes of an object that are read
	maxStream  = 8 << 20  // bytes of a stream of objects, unpacked
	maxStreams = 64 << 20 // bytes of all of them
	maxKept    = 200_000  // objects and references that are kept
)

// Found is what is found in a file.
type Found struct {
	Notes     []Note // by page
	Files     bool   // files may be embedded in it
	Encrypted bool   // notes are encrypted, if there are any
	Partly    bool   // there may be more notes
}

// Note is a comment on a page.
type Note struct {
	Page   int // from 1
	Author string
	Text   string
}

// scanner reads a file.
type scanner struct {
	file  *os.File
	size  int64
	data  []byte // a part of the file
	start int64  // its offset

	unpacked int64 // bytes of streams
	parsed   int64 // bytes of objects, of the file and of streams
	kept     int
	found    Found
	tree     tree
}

// Scan reads the file at path. A damaged file is not an error: what is found in it is returned.
func Scan(ctx context.Context, path string) (Found, error) {
	file, err := os.Open(path)
	if err != nil {
		return Found{}, fmt.Errorf("look for comments in a PDF: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	about, err := file.Stat()
	if err != nil {
		return Found{}, fmt.Errorf("look for comments in a PDF: %w", err)
	}
	s := &scanner{file: file, size: about.Size(), tree: newTree()}
	for at := int64(0); at < s.size && !s.exhausted(); {
		if ctx.Err() != nil {
			return Found{}, fmt.Errorf("look for comments in a PDF: %w", context.Cause(ctx))
		}
		if at, err = s.next(at); err != nil {
			return Found{}, fmt.Errorf("look for comments in a PDF: %w", err)
		}
	}
	if !s.found.Encrypted {
		s.found.Notes = s.tree.notes()
	}
	return s.found, nil
}

// parsedShare is how often each byte may be parsed. Objects that aren't closed are parsed again as part of each other.
const parsedShare = 4

// exhausted reports that too much was parsed: the rest of the file is not read.
func (s *scanner) exhausted() bool {
	if s.parsed > parsedShare*(s.size+s.unpacked)+window {
		s.found.Partly = true
		return true
	}
	return false
}

// from returns the file from at, with at least maxObject bytes unless it ends before.
func (s *scanner) from(at int64) ([]byte, error) {
	if end := s.start + int64(len(s.data)); at < s.start || at+maxObject > end && end < s.size {
		if s.data == nil {
			s.data = make([]byte, window)
		}
		n, err := s.file.ReadAt(s.data[:window], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		s.data, s.start = s.data[:n], at
	}
	return s.data[min(at-s.start, int64(len(s.data))):], nil
}

// next reads the next object, or the next trailer, at or after at, and returns where to go on.
func (s *scanner) next(at int64) (int64, error) {
	data, err := s.from(at)
	if err != nil {
		return 0, err
	}
	object := bytes.Index(data, []byte("obj"))
	before := data
	if object >= 0 {
		before = data[:object]
	}
	switch trailer := bytes.Index(before, []byte("trailer")); {
	case trailer >= 0:
		at += int64(trailer) + int64(len("trailer"))
		value, _, err := s.value(at)
		if d, ok := value.(Dict); ok && d["Encrypt"] != nil {
			s.found.Encrypted = true
		}
		return at, err
	case object < 0:
		return at + max(int64(len(data))-int64(len("trailer")), 1), nil
	}
	number, ok := numberBefore(data[:object])
	at += int64(object) + int64(len("obj"))
	if !ok {
		return at, nil
	}
	value, end, err := s.value(at)
	if err != nil {
		return 0, err
	}
	if d, ok := value.(Dict); ok {
		if body, ok := s.stream(end); ok {
			return s.readStream(d, body), nil
		}
	}
	s.keep(number, value)
	if s.closed(end) {
		return end, nil
	}
	return at, nil // an object that is not closed must not hide the next one
}

// value reads an object and returns the offset of its end.
func (s *scanner) value(at int64) (any, int64, error) {
	data, err := s.from(at)
	if err != nil {
		return nil, 0, err
	}
	p := &parser{data: data[:min(len(data), maxObject)]}
	v := p.value(0)
	s.parsed += int64(p.at)
	return v, at + int64(p.at), nil
}

// numberBefore reads the number of an object before the keyword: "12 0 obj".
func numberBefore(data []byte) (number int, ok bool) {
	i := len(data)
	field := func() (n, digits int) {
		for i > 0 && bytes.IndexByte([]byte(blanks), data[i-1]) >= 0 {
			i--
		}
		for unit := 1; i > 0 && digits < 9 && data[i-1] >= '0' && data[i-1] <= '9'; unit *= 10 {
			i--
			n += unit * int(data[i]-'0')
			digits++
		}
		return n, digits
	}
	_, generation := field()
	number, digits := field()
	return number, generation > 0 && digits > 0
}

// stream returns the offset of a stream's data if the keyword for one is at the offset.
func (s *scanner) stream(at int64) (int64, bool) {
	data, err := s.from(at)
	if err != nil {
		return 0, false
	}
	p := &parser{data: data[:min(len(data), 64)]}
	if !p.accept("stream") {
		return 0, false
	}
	if rest := p.data[p.at:]; bytes.HasPrefix(rest, []byte("\r\n")) {
		p.at += 2
	} else if bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r")) {
		p.at++
	}
	return at + int64(p.at), true
}

// closed reports whether an object ends at the offset.
func (s *scanner) closed(at int64) bool {
	data, err := s.from(at)
	if err != nil {
		return false
	}
	p := &parser{data: data[:min(len(data), 64)]}
	return p.accept("endobj")
}

// readStream reads a stream of objects (7.5.7), looks at the kind of others, and returns where to go on.
func (s *scanner) readStream(d Dict, at int64) int64 {
	switch d["Type"] {
	case Name("EmbeddedFile"):
		s.found.Files = true
	case Name("XRef"):
		s.found.Encrypted = s.found.Encrypted || d["Encrypt"] != nil
	case Name("ObjStm"):
		s.objects(d, at)
	}
	// The length may be wrong; then it is not skipped.
	if length, ok := d["Length"].(float64); ok && length > 0 && at+int64(length) < s.size {
		end := make([]byte, 20)
		n, _ := s.file.ReadAt(end, at+int64(length)) // a short read finds nothing
		if bytes.Contains(end[:n], []byte("endstream")) {
			return at + int64(length)
		}
	}
	return at
}

func (s *scanner) objects(d Dict, at int64) {
	count, _ := d["N"].(float64)
	first, _ := d["First"].(float64)
	filter := d["Filter"]
	if list, ok := filter.([]any); ok && len(list) == 1 {
		filter = list[0]
	}
	if filter != Name("FlateDecode") || d["DecodeParms"] != nil || s.unpacked >= maxStreams || first < 0 {
		s.found.Partly = true
		return
	}
	z, err := zlib.NewReader(io.NewSectionReader(s.file, at, s.size-at))
	if err != nil {
		s.found.Partly = true // also if it is encrypted
		return
	}
	content, err := io.ReadAll(io.LimitReader(z, maxStream))
	s.unpacked += int64(len(content))
	s.found.Partly = s.found.Partly || err != nil || len(content) == maxStream
	head := &parser{data: content[:min(int(first), len(content))]}
	for range int(count) {
		if s.exhausted() {
			return
		}
		number, ok := head.value(0).(float64)
		offset, ok2 := head.value(0).(float64)
		if !ok || !ok2 {
			return
		}
		if start := first + offset; start >= 0 && start < float64(len(content)) {
			p := &parser{data: content[int(start):min(int(start)+maxObject, len(content))]}
			s.keep(int(number), p.value(0))
			s.parsed += int64(p.at)
		}
	}
}

// keep keeps what an object says about pages and comments.
func (s *scanner) keep(number int, value any) {
	if d, ok := value.(Dict); ok && (d["EF"] != nil || d["EmbeddedFiles"] != nil || d["Subtype"] == Name("FileAttachment")) {
		s.found.Files = true
	}
	cost := s.tree.add(number, value)
	if s.kept += cost; s.kept > maxKept {
		s.found.Partly = true
		s.tree.full = true
	}
}
