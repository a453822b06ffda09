package extract

import (
	"bytes"
	"encoding/base64"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Object identifiers of PKCS #7 in DER.
const (
	pkcs7             = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07"             // the start of most (RFC 5652: 1.2.840.113549.1.7)
	envelopedData     = pkcs7 + "\x03"                                         // RFC 5652
	authEnvelopedData = "\x06\x0B\x2A\x86\x48\x86\xF7\x0D\x01\x09\x10\x01\x17" // RFC 5083
)

// ErrEncrypted is the error of a message that is encrypted.
var ErrEncrypted = taskerr.Errorf(taskerr.CorruptionDetected, "the message is encrypted: decrypt it and upload it again")

// errSealed is the error of a file in an envelope of PKCS #7.
var errSealed = taskerr.Errorf(taskerr.UnsupportedFormat,
	"the file is signed or encrypted as a whole (PKCS #7, such as .p7m): open the envelope and upload what is in it")

// sealed recognizes such a file by its start.
func sealed(head []byte) bool {
	start := der(head)
	return bytes.Contains(start, []byte(pkcs7)) || bytes.Contains(start, []byte(authEnvelopedData))
}

// Encrypted recognizes an encrypted file of PKCS #7 by its start of 256 bytes, also in base64 or PEM.
func Encrypted(head []byte) bool {
	start := der(head)
	return bytes.Contains(start, []byte(envelopedData)) || bytes.Contains(start, []byte(authEnvelopedData))
}

// der returns the start of a file in DER, out of base64 or PEM if it is in one of these.
func der(head []byte) []byte {
	const near = 64
	text := bytes.TrimSpace(head[:min(len(head), 4*near)])
	if bytes.HasPrefix(text, []byte("-----BEGIN ")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = bytes.Join(bytes.Fields(text), nil)
	text = text[:min(len(text), 2*near)/4*4]
	decoded := make([]byte, len(text))
	if n, err := base64.StdEncoding.Decode(decoded, text); err == nil && n > 0 {
		return decoded[:n]
	}
	return head[:min(len(head), near)]
}
