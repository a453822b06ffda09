package pageimage

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// bigOrder returns the byte order of a BigTIFF, or nil.
func bigOrder(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte("II+\x00\x08\x00")):
		return binary.LittleEndian
	case bytes.HasPrefix(head, []byte("MM\x00+\x00\x08")):
		return binary.BigEndian
	}
	return nil
}

const (
	maxBigPages = 5000
	maxBigTable = 16 << 20 // bytes of all directories of a BigTIFF
)

// overlay is a file with another start and an addition after its end.
type overlay struct {
	io.ReaderAt
	size        int64
	start, more []byte
}

// ReadAt implements io.ReaderAt.
func (o *overlay) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	if at < o.size {
		read, err := o.ReaderAt.ReadAt(p[:min(int64(len(p)), o.size-at)], at)
		if at < int64(len(o.start)) {
			copy(p[:read], o.start[at:])
		}
		if n = read; err != nil && err != io.EOF || at+int64(n) < o.size {
			return n, err
		}
	}
	if rest := at + int64(n) - o.size; rest < int64(len(o.more)) {
		n += copy(p[n:], o.more[rest:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// smallTIFF presents a BigTIFF (libtiff.gitlab.io/libtiff/specification/bigtiff.html) as a TIFF: only its header and
// its directories differ. The file must be smaller than 4 GB. Other files are returned as they are.
func smallTIFF(file io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
	head := make([]byte, 16)
	if n, err := file.ReadAt(head, 0); n < len(head) {
		return file, size, nonEOF(err)
	}
	order := bigOrder(head)
	if order == nil {
		return file, size, nil
	}
	if size > math.MaxUint32-maxBigTable {
		return nil, 0, io.ErrUnexpectedEOF
	}
	o := &overlay{ReaderAt: file, size: size, start: append([]byte{}, head[:8]...)}
	b := &bigTIFF{file: file, order: order, size: size}
	link := -1 // where the offset of the next directory goes, in more
	seen := map[uint64]bool{}
	for at := order.Uint64(head[8:]); at != 0 && !seen[at] && len(seen) < maxBigPages; {
		seen[at] = true
		begin := uint32(size) + uint32(len(b.more))
		next, err := b.directory(at)
		if err != nil {
			return nil, 0, err
		}
		if link < 0 {
			order.PutUint16(o.start[2:], 42)
			order.PutUint32(o.start[4:], begin)
		} else {
			order.PutUint32(b.more[link:], begin)
		}
		link, at = b.link, next
	}
	o.more = b.more
	return o, size + int64(len(b.more)), nil
}

func nonEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // io.ReaderAt returns it as it is
		return nil
	}
	return err
}

// bigTIFF converts directories.
type bigTIFF struct {
	file  io.ReaderAt
	order binary.ByteOrder
	size  int64
	more  []byte // the directories as a TIFF has them, and their values
	link  int    // in more: the offset after the last one
}

// typeSizes are the bytes of the types of values; 8-byte offsets become 4.
var typeSizes = []int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

func (b *bigTIFF) read(at uint64, n int64) ([]byte, error) {
	if at > uint64(b.size) || n < 0 || n > b.size-int64(at) || int64(len(b.more))+n > maxBigTable {
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, n)
	_, err := b.file.ReadAt(data, int64(at))
	return data, nonEOF(err)
}

// directory appends the directory at an offset and returns the offset of the next one.
func (b *bigTIFF) directory(at uint64) (next uint64, err error) {
	head, err := b.read(at, 8)
	if err != nil {
		return 0, err
	}
	count := b.order.Uint64(head)
	if count == 0 || count > maxEntries {
		return 0, io.ErrUnexpectedEOF
	}
	entries, err := b.read(at+8, int64(count)*20+8)
	if err != nil {
		return 0, err
	}
	here := len(b.more)
	b.more = append(b.more, make([]byte, 2+12*count+4)...)
	b.order.PutUint16(b.more[here:], uint16(count))
	for i := range int(count) {
		value, kind, number, err := b.value(entries[20*i:])
		if err != nil {
			return 0, err
		}
		to := here + 2 + 12*i
		b.order.PutUint16(b.more[to:], b.order.Uint16(entries[20*i:]))
		b.order.PutUint16(b.more[to+2:], kind)
		b.order.PutUint32(b.more[to+4:], number)
		if len(value) <= 4 {
			copy(b.more[to+8:to+12], value)
			continue
		}
		b.order.PutUint32(b.more[to+8:], uint32(b.size)+uint32(len(b.more)))
		b.more = append(b.more, value...)
	}
	b.link = here + 2 + 12*int(count)
	return b.order.Uint64(entries[20*count:]), nil
}

// value returns an entry's values with their type and number.
func (b *bigTIFF) value(entry []byte) (value []byte, kind uint16, number uint32, err error) {
	const long, long8, ifd8 = 4, 16, 18
	kind = b.order.Uint16(entry[2:])
	count := b.order.Uint64(entry[4:])
	if int(kind) >= len(typeSizes) || count > maxBigTable {
		return nil, 0, 0, io.ErrUnexpectedEOF
	}
	size := int64(count) * typeSizes[kind]
	if size <= 8 {
		value = bytes.Clone(entry[12 : 12+size])
	} else if value, err = b.read(b.order.Uint64(entry[12:]), size); err != nil {
		return nil, 0, 0, err
	}
	if kind < long8 || kind > ifd8 {
		return value, kind, uint32(count), nil
	}
	short := make([]byte, 0, len(value)/2)
	for ; len(value) >= 8; value = value[8:] {
		var four [4]byte
		b.order.PutUint32(four[:], uint32(min(b.order.Uint64(value), math.MaxUint32)))
		short = append(short, four[:]...)
	}
	return short, long, uint32(count), nil
}
