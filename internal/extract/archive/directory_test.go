package archive

import (
	"bytes"
	"errors"
	"testing"
)

// A directory of more bytes than its entries can have is not read to its end, whatever count it declares.
func TestDirectoryIsMetered(t *testing.T) {
	t.Parallel()
	d := newDirectory(bytes.NewReader(make([]byte, 1<<20)), 100)
	read, piece := 0, make([]byte, 4096)
	for at := int64(0); ; at += int64(len(piece)) {
		n, err := d.ReadAt(piece, at)
		if err != nil {
			if !errors.Is(err, errTooManyEntries) || read > 100*bytesPerEntry+4*maxComment {
				t.Errorf("after %d bytes: %v", read, err)
			}
			return
		}
		read += n
	}
}
