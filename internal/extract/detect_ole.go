package extract

import (
	"bytes"
	"encoding/binary"
	"os"
	"unicode/utf16"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// oleSignature is the signature of a compound file, see [MS-CFB] 2.2.
var oleSignature = []byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1}

// detectOLE distinguishes encrypted Office documents, which are wrapped in a compound file ([MS-OFFCRYPTO]
// 1.3.2), from Office files before 2007.
func detectOLE(file *os.File, head []byte) (Format, error) {
	for _, area := range [][]byte{head, directory(file, head)} {
		if bytes.Contains(area, utf16le("EncryptedPackage")) {
			return Unknown, taskerr.PasswordProtected("the Office file")
		}
	}
	return OLE, nil
}

// directory reads the compound file's directory from the offset in the header. 64 KiB are enough for hundreds
// of streams; a truncated one can only result in "old Office".
func directory(file *os.File, head []byte) []byte {
	const shiftAt, firstAt = 30, 48
	if len(head) < 512 {
		return nil
	}
	shift := binary.LittleEndian.Uint16(head[shiftAt:])
	if shift != 9 && shift != 12 {
		return nil
	}
	first := int64(binary.LittleEndian.Uint32(head[firstAt:]))
	area := make([]byte, 64<<10)
	n, _ := file.ReadAt(area, (first+1)<<shift) // a read past the end finds nothing
	return area[:max(n, 0)]
}

func utf16le(s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}
