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

// The end of central directory record (APPNOTE.TXT 4.3.16): its signature, its size without the comment, and
// the longest comment.
var endSignature = []byte{'P', 'K', 5, 6}

const (
	endSize       = 22
	maxComment    = 1<<16 - 1
	bytesPerEntry = 1024 // of directory, generously: 46, and names and extra fields
)

// checkDirectory measures the central directory before archive/zip loads it. archive/zip reads headers as long
// as they follow each other, whatever their declared count, and keeps some hundred bytes for each, so a file of
// only headers would take gigabytes.
func checkDirectory(r io.ReaderAt, size int64, entries int) error {
	tail := make([]byte, min(size, endSize+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the container's directory: %w", err)
	}
	at := bytes.LastIndex(tail, endSignature)
	if at < 0 || len(tail)-at < endSize {
		return damaged(errors.New("its zip directory is missing"))
	}
	end := tail[at:]
	count := binary.LittleEndian.Uint16(end[10:])
	length := int64(binary.LittleEndian.Uint32(end[12:]))
	offset := int64(binary.LittleEndian.Uint32(end[16:]))
	if int(count) > entries || count == 1<<16-1 {
		return tooManyEntries(entries)
	}
	limit := int64(entries) * bytesPerEntry
	room := size - int64(len(tail)) + int64(at) - offset // from the start of the directory to its end record
	if room < 0 {
		return damaged(errors.New("its zip directory is outside of the file"))
	}
	if length > limit || room > limit {
		return tooManyEntries(entries)
	}
	return nil
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
				"the parts of the file overlap, which looks like a zip bomb: it is not read")
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
