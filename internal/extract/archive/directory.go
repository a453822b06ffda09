package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The end of central directory record, its 64-bit form, and the locator of that, which comes right before the former
// (APPNOTE.TXT 4.3.14 to 4.3.16): signatures and sizes, and the longest comment.
const (
	endSignature, endSize         = "PK\x05\x06", 22
	locatorSignature, locatorSize = "PK\x06\x07", 20
	end64Signature, end64Size     = "PK\x06\x06", 56
	maxComment                    = 1<<16 - 1

	bytesPerEntry = 1024 // of directory, generously: 46, and names and extra fields
)

// directory is the file while archive/zip reads the directory. archive/zip reads headers as long as they follow each
// other, whatever their declared count, and keeps some hundred bytes for each, so a file of only headers would take
// gigabytes.
type directory struct {
	io.ReaderAt
	left int64 // bytes to read; negative after the directory: unlimited
}

func newDirectory(r io.ReaderAt, entries int) *directory {
	return &directory{r, int64(entries)*bytesPerEntry + 4*maxComment}
}

var errTooManyEntries = errors.New("the directory is too large")

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if d.left >= 0 {
		if d.left -= int64(len(p)); d.left < 0 {
			d.left = 0
			return 0, errTooManyEntries
		}
	}
	return d.ReaderAt.ReadAt(p, at)
}

// checkCount checks the declared number of entries, for which archive/zip allocates memory.
func checkCount(r io.ReaderAt, size int64, entries int) error {
	tail := make([]byte, min(size, endSize+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the container's directory: %w", err)
	}
	at := bytes.LastIndex(tail, []byte(endSignature))
	if at < 0 || len(tail)-at < endSize {
		return damaged(errors.New("its zip directory is missing"))
	}
	count := uint64(binary.LittleEndian.Uint16(tail[at+10:]))
	if count64, ok := count64(r, size-int64(len(tail)-at)); ok {
		count = count64
	}
	if count > uint64(entries) {
		return tooManyEntries(entries)
	}
	return nil
}

// count64 returns the number of entries in the 64-bit form of the record at end, if there is one.
func count64(r io.ReaderAt, end int64) (uint64, bool) {
	locator, record := make([]byte, locatorSize), make([]byte, end64Size)
	if _, err := r.ReadAt(locator, end-locatorSize); err != nil || string(locator[:4]) != locatorSignature {
		return 0, false
	}
	_, err := r.ReadAt(record, int64(binary.LittleEndian.Uint64(locator[8:])))
	if err != nil || string(record[:4]) != end64Signature {
		return 0, false
	}
	return binary.LittleEndian.Uint64(record[32:]), true
}

// packsWell is the compression ratio from which a part counts as text; pictures don't compress.
const packsWell = 2

// checkSums refuses at once what reading would refuse after hundreds of megabytes. Parts that together are
// larger than the file share bytes (David Fifield, "A better zip bomb", WOOT 2019); no real program writes such
// a file.
func checkSums(parts []*zip.File, size uint64, limits Limits) error {
	var packed, unpacked uint64
	for _, p := range parts {
		if packed += p.CompressedSize64; packed > size || p.CompressedSize64 > size {
			return taskerr.Errorf(taskerr.CorruptionDetected,
				"the parts of the file overlap, which looks like a zip bomb: it is not read").
				WithHint(smaller)
		}
		if p.UncompressedSize64/packsWell <= p.CompressedSize64 {
			continue
		}
		if unpacked += p.UncompressedSize64; unpacked > uint64(limits.Bytes) ||
			p.UncompressedSize64 > uint64(limits.Bytes) {
			return tooLarge(limits)
		}
	}
	return nil
}
