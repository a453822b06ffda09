package pageimage

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	orientationTag = 0x0112
	maxEntries     = 4096 // of one directory of a TIFF
	exifRoom       = 256 << 10
)

// pages lists the pages of the file, up to most. Only a TIFF has more than one.
func (in *input) pages(most int) ([]page, error) {
	head := make([]byte, exifRoom)
	n, err := in.ReadAt(head, 0)
	if n == 0 && err != nil {
		return nil, err
	}
	head = head[:n]
	if order := byteOrder(head); order != nil {
		return in.tiffPages(order, most)
	}
	return []page{{orientation: exifOrientation(head)}}, nil
}

// byteOrder returns that of a TIFF (also within EXIF), or nil.
func byteOrder(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte("II*\x00")):
		return binary.LittleEndian
	case bytes.HasPrefix(head, []byte("MM\x00*")):
		return binary.BigEndian
	}
	return nil
}

// tiffPages follows the chain of directories (TIFF 6.0, section 2). It stops when the chain loops.
func (in *input) tiffPages(order binary.ByteOrder, most int) ([]page, error) {
	var pages []page
	seen := map[uint32]bool{}
	var word [4]byte
	if _, err := in.ReadAt(word[:], 4); err != nil {
		return nil, err
	}
	for at := order.Uint32(word[:]); at != 0 && !seen[at] && len(pages) < most; {
		seen[at] = true
		orientation, next, err := directory(in, order, int64(at))
		if err != nil {
			if len(pages) > 0 {
				return nil, taskerr.Errorf(taskerr.CorruptionDetected,
					"the image is damaged or was cut off after page %d: upload it again", len(pages))
			}
			return nil, err
		}
		p := page{orientation: orientation, directory: true, order: order}
		order.PutUint32(p.first[:], at)
		pages = append(pages, p)
		at = next
	}
	if len(pages) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return pages, nil
}

// directory reads the orientation and the offset of the next directory.
func directory(r io.ReaderAt, order binary.ByteOrder, at int64) (orientation int, next uint32, err error) {
	var word [4]byte
	if _, err := r.ReadAt(word[:2], at); err != nil {
		return 0, 0, err
	}
	count := int(order.Uint16(word[:2]))
	if count == 0 || count > maxEntries {
		return 0, 0, io.ErrUnexpectedEOF
	}
	entries := make([]byte, 12*count)
	if _, err := r.ReadAt(entries, at+2); err != nil {
		return 0, 0, err
	}
	for e := entries; len(e) > 0; e = e[12:] {
		if order.Uint16(e) == orientationTag {
			orientation = int(order.Uint16(e[8:]))
		}
	}
	if _, err := r.ReadAt(word[:], at+2+int64(len(entries))); err != nil {
		return orientation, 0, nil //nolint:nilerr // the last directory of EXIF need not name a next one
	}
	return orientation, order.Uint32(word[:]), nil
}

// page is one page of an image file.
type page struct {
	orientation int     // EXIF's, 1 to 8
	directory   bool    // a page of a TIFF
	first       [4]byte // its directory's offset, in the file's byte order
	order       binary.ByteOrder
}

// view presents the file as if the page's directory were the first.
type view struct {
	io.ReaderAt
	page
}

// ReadAt implements io.ReaderAt.
func (v view) ReadAt(b []byte, at int64) (int, error) {
	n, err := v.ReaderAt.ReadAt(b, at)
	if !v.directory {
		return n, err
	}
	for i := range v.first {
		if to := 4 + int64(i) - at; to >= 0 && to < int64(n) {
			b[to] = v.first[i]
		}
	}
	return n, err
}

// exifOrientation finds the orientation in EXIF data near the start of an image, where JPEG, PNG and WebP have
// it. It returns 0 without any.
func exifOrientation(head []byte) int {
	var exif []byte
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xD8")):
		_, exif, _ = bytes.Cut(head, []byte("Exif\x00\x00"))
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		_, exif, _ = bytes.Cut(head, []byte("eXIf"))
	case bytes.HasPrefix(head, []byte("RIFF")):
		if _, exif, _ = bytes.Cut(head, []byte("EXIF")); len(exif) > 4 {
			exif = bytes.TrimPrefix(exif[4:], []byte("Exif\x00\x00"))
		}
	}
	order := byteOrder(exif)
	if order == nil || len(exif) < 8 {
		return 0
	}
	orientation, _, err := directory(bytes.NewReader(exif), order, int64(order.Uint32(exif[4:])))
	if err != nil || orientation > 8 {
		return 0
	}
	return orientation
}
