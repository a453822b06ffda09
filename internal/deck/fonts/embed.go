package fonts

import (
	"encoding/binary"
	"errors"
)

var (
	errKind       = errors.New("is not TrueType with outlines, which alone can be embedded")
	errRestricted = errors.New("may not be embedded: its licence forbids it (OS/2 fsType)")
)

// embeddable checks that a font has TrueType outlines, and that its maker allows it to be embedded and subsetted (OpenType,
// table OS/2, fsType).
func embeddable(data []byte) error {
	const trueType, apple = 0x00010000, 0x74727565
	if len(data) < 12 {
		return errKind
	}
	if kind := binary.BigEndian.Uint32(data); kind != trueType && kind != apple {
		return errKind
	}
	outlines := false
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		at := 12 + 16*i
		if at+16 > len(data) {
			return errKind
		}
		offset, length := binary.BigEndian.Uint32(data[at+8:]), binary.BigEndian.Uint32(data[at+12:])
		switch string(data[at : at+4]) {
		case "glyf":
			outlines = true
		case "CBDT", "COLR", "fvar": // pictures, or a design that is not one font
			return errKind
		case "OS/2":
			const fsType, restricted, noSubset = 8, 0x0002, 0x0100
			if length < fsType+2 || uint64(offset)+fsType+2 > uint64(len(data)) {
				return errKind
			}
			// Restricted counts only where no other permission is given.
			if flags := binary.BigEndian.Uint16(data[offset+fsType:]); flags&0xF == restricted || flags&noSubset != 0 {
				return errRestricted
			}
		}
	}
	if !outlines {
		return errKind
	}
	return nil
}
