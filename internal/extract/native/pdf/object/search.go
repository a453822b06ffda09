package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxSearch is how many bytes of a file without a table are searched for its objects.
const maxSearch = 256 << 20

// search rebuilds the table from the objects in the file: the last one of a number counts.
func (f *File) search(ctx context.Context) error {
	f.places, f.trailer, f.crypt, f.packed, f.searched = nil, nil, nil, nil, true
	const chunk, overlap = 1 << 20, 64
	buffer := make([]byte, chunk+overlap)
	for offset := int64(0); offset < min(f.size, maxSearch); offset += chunk {
		if ctx.Err() != nil {
			return fmt.Errorf("search the PDF for its objects: %w", context.Cause(ctx))
		}
		n, err := f.in.ReadAt(buffer, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the PDF: %w", err)
		}
		f.searchIn(buffer[:n], offset, min(n, chunk))
	}
	if f.trailer == nil {
		f.trailer = Dict{}
	}
	return f.searchStreams(ctx)
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
		if at += i; f.spent() {
			return
		}
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
func (f *File) searchStreams(ctx context.Context) error {
	streams := 0
	for number := range len(f.places) {
		if number%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("search the PDF for its objects: %w", context.Cause(ctx))
		}
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
