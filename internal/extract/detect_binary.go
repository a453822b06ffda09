package extract

import (
	"bytes"
	"encoding/binary"
)

// isCBOR recognizes CBOR (RFC 8949), whose texts are readable between a few other bytes: data that begins with a map,
// an array or the tag for CBOR, and is well-formed to its end, or to that of head if head is full.
func isCBOR(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xD9\xD9\xF7")) {
		return true
	}
	if len(head) < 4 || head[0]>>5 != 4 && head[0]>>5 != 5 {
		return false
	}
	c := cbor{data: head, items: 1}
	for c.items > 0 {
		if !c.item() {
			return c.short && len(head) >= headBytes
		}
	}
	return c.at == len(head)
}

// cbor checks items one after the other (appendix C), without indefinite lengths.
type cbor struct {
	data  []byte
	at    int
	items uint64 // to come
	short bool   // data has ended
}

func (c *cbor) item() bool {
	if c.at >= len(c.data) {
		c.short = true
		return false
	}
	initial := c.data[c.at]
	c.at++
	c.items--
	value := uint64(initial & 31)
	if value >= 24 {
		size := 1 << (value - 24)
		if value > 27 {
			return false
		}
		if c.at+size > len(c.data) {
			c.short = true
			return false
		}
		number := make([]byte, 8)
		copy(number[8-size:], c.data[c.at:c.at+size])
		value = binary.BigEndian.Uint64(number)
		c.at += size
	}
	const most = 1 << 32 // of items and bytes
	if value > most && initial>>5 >= 2 && initial>>5 <= 5 {
		return false
	}
	switch initial >> 5 {
	case 2, 3: // bytes and texts
		if value > uint64(len(c.data)-c.at) {
			c.short = true
			return false
		}
		c.at += int(value)
	case 4:
		c.items += value
	case 5:
		c.items += 2 * value
	case 6: // a tag
		c.items++
	}
	return true
}
