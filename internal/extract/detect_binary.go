package extract

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// signedData is the start of the object identifiers of PKCS #7 (RFC 5652: 1.2.840.113549.1.7) in DER.
const signedData = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07"

// errSealed is the error of a file in an envelope of PKCS #7.
var errSealed = taskerr.Errorf(taskerr.UnsupportedFormat,
	"the file is signed or encrypted as a whole (PKCS #7, such as .p7m): open the envelope and upload what is in it")

// sealed recognizes such a file, also in base64 or PEM.
func sealed(head []byte) bool {
	const near = 64
	if bytes.Contains(head[:min(len(head), near)], []byte(signedData)) {
		return true
	}
	text := bytes.TrimSpace(head[:min(len(head), 4*near)])
	if bytes.HasPrefix(text, []byte("-----BEGIN ")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = bytes.Join(bytes.Fields(text), nil)
	text = text[:min(len(text), 2*near)/4*4]
	der := make([]byte, len(text))
	n, err := base64.StdEncoding.Decode(der, text)
	return err == nil && bytes.Contains(der[:n], []byte(signedData))
}

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
