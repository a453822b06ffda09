package msg

import (
	"encoding/binary"
	"errors"
)

// dictionary is what compressed RTF refers to before its own start ([MS-OXRTFCP] 2.1.2.1).
const dictionary = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript " +
	"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par " +
	"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

var errRTF = errors.New("its compressed text is damaged")

// unpackRTF returns the RTF of the property ([MS-OXRTFCP] 3.1.1). It is at most limit bytes, and at most nine times as
// large as the packed text.
func unpackRTF(packed []byte, limit int) ([]byte, error) {
	const header, compressed, stored = 16, 0x75465A4C, 0x414C454D
	if len(packed) < header {
		return nil, errRTF
	}
	size := int(binary.LittleEndian.Uint32(packed[4:]))
	kind := binary.LittleEndian.Uint32(packed[8:])
	packed = packed[header:]
	switch kind {
	case stored:
		return packed[:min(size, len(packed), limit)], nil
	case compressed:
	default:
		return nil, errRTF
	}
	const ring = 4096
	var window [ring]byte
	at := copy(window[:], dictionary)
	var out []byte
	put := func(b byte) {
		out = append(out, b)
		window[at%ring] = b
		at++
	}
	for len(packed) > 0 && len(out) < min(size, limit) {
		control := packed[0]
		packed = packed[1:]
		for bit := range 8 {
			if control>>bit&1 == 0 {
				if len(packed) == 0 {
					return out, nil
				}
				put(packed[0])
				packed = packed[1:]
				continue
			}
			if len(packed) < 2 {
				return out, nil
			}
			reference := int(binary.BigEndian.Uint16(packed))
			packed = packed[2:]
			offset, length := reference>>4, reference&15+2
			if offset == at%ring {
				return out, nil // the mark of the end
			}
			for range length {
				put(window[offset%ring])
				offset++
			}
		}
	}
	return out, nil
}
