package object

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format's
	"crypto/rc4" //nolint:gosec // the format's
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// crypt decrypts a file that opens without a password (7.6; ISO 32000-2, 7.6.4 for revision 6).
type crypt struct {
	key     []byte
	streams Name // the method: V2: RC4; AESV2, AESV3: AES; Identity
	strings Name
}

var errEncrypted = errors.New("the PDF is encrypted by a method that isn't known")

// passwordPadding fills up a password (7.6.3.3).
const passwordPadding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// decrypt makes the key of the file.
func (f *File) decrypt() error {
	d := f.Dict(f.trailer["Encrypt"])
	version, _ := f.Number(d["V"])
	revision, _ := f.Number(d["R"])
	c := &crypt{streams: "V2", strings: "V2"}
	if version >= 4 {
		c.streams, c.strings = f.method(d, "StmF"), f.method(d, "StrF")
	}
	if f.Name(d["Filter"]) != "Standard" || version < 1 || version > 5 || d == nil {
		return errEncrypted
	}
	var err error
	if c.key, err = f.key(d, int(version), int(revision)); err != nil {
		return err
	}
	f.crypt, f.packed = c, nil
	return nil
}

// method returns the method of a kind of data.
func (f *File) method(d Dict, kind Name) Name {
	name := f.Name(d[kind])
	method := f.Name(f.Dict(f.Dict(d["CF"])[name])["CFM"])
	if name == "" || name == "Identity" || method == "None" {
		return "Identity"
	}
	return method
}

// String returns the decrypted string that o is or refers to, or "". within is the object that holds o; the strings of
// an object in a stream are encrypted with the stream.
func (f *File) String(o Object, within Ref) String {
	if ref, ok := o.(Ref); ok {
		o, within = f.Resolve(ref), ref
	}
	s, ok := o.(String)
	switch {
	case !ok, f.trailer["Encrypt"] == nil:
		return s
	case f.crypt == nil || within.Object < 0 || within.Object >= len(f.places):
		return ""
	case f.places[within.Object].stream > 0:
		return s
	}
	plain, err := f.crypt.text([]byte(s), within)
	if err != nil {
		return ""
	}
	return String(plain)
}

func (f *File) bytes(o Object) []byte {
	s, _ := f.Resolve(o).(String)
	return []byte(s)
}

// key is the file's key for the empty password: algorithm 2, or 2.A of ISO 32000-2.
func (f *File) key(d Dict, version, revision int) ([]byte, error) {
	owner, user := f.bytes(d["O"]), f.bytes(d["U"])
	if revision >= 5 {
		encrypted := f.bytes(d["UE"])
		if len(user) < 48 || len(encrypted) < 32 {
			return nil, errEncrypted
		}
		salted := sha256.Sum256(user[40:48])
		key := salted[:]
		if revision >= 6 {
			key = hardened(user[40:48])
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errEncrypted, err)
		}
		out := make([]byte, 32)
		cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(out, encrypted[:32])
		return out, nil
	}
	length := 5
	if v, ok := f.Number(d["Length"]); ok && version > 1 && v >= 40 && v <= 128 {
		length = int(v) / 8
	}
	if version == 4 {
		length = 16
	}
	permissions, _ := f.Number(d["P"])
	var id []byte
	if ids := f.Array(f.trailer["ID"]); len(ids) > 0 {
		id = f.bytes(ids[0])
	}
	text := append([]byte(passwordPadding), owner[:min(32, len(owner))]...)
	text = binary.LittleEndian.AppendUint32(text, uint32(int64(permissions)))
	text = append(text, id...)
	if plain, ok := f.Resolve(d["EncryptMetadata"]).(bool); ok && !plain && revision >= 4 {
		text = append(text, 0xFF, 0xFF, 0xFF, 0xFF)
	}
	sum := md5.Sum(text) //nolint:gosec // the format's
	if revision >= 3 {
		for range 50 {
			sum = md5.Sum(sum[:length]) //nolint:gosec // the format's
		}
	}
	return sum[:length], nil
}

// hardened is the hash of revision 6 for the empty password (algorithm 2.B of ISO 32000-2).
func hardened(salt []byte) []byte {
	first := sha256.Sum256(salt)
	key := first[:]
	for round, last := 0, byte(0); round < 64 || int(last) > round-32; round++ {
		text := bytes.Repeat(key, 64)
		block, err := aes.NewCipher(key[:16])
		if err != nil {
			return key[:32] // never: the length is right
		}
		cipher.NewCBCEncrypter(block, key[16:32]).CryptBlocks(text, text)
		sum := 0
		for _, c := range text[:16] {
			sum += int(c)
		}
		last = text[len(text)-1]
		switch sum % 3 {
		case 0:
			h := sha256.Sum256(text)
			key = h[:]
		case 1:
			h := sha512.Sum384(text)
			key = h[:]
		default:
			h := sha512.Sum512(text)
			key = h[:]
		}
	}
	return key[:32]
}

// text decrypts a string of an object.
func (c *crypt) text(s []byte, ref Ref) ([]byte, error) {
	r, err := c.reader(bytes.NewReader(s), ref, c.strings)
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decrypt a string: %w", err)
	}
	if c.strings == "AESV2" || c.strings == "AESV3" { // PKCS #5: each byte of the padding is its length
		n := len(out)
		if n == 0 || out[n-1] == 0 || out[n-1] > aes.BlockSize || int(out[n-1]) > n {
			return nil, errEncrypted
		}
		out = out[:n-int(out[n-1])]
	}
	return out, nil
}

// reader decrypts the bytes of a stream or a string of an object.
func (c *crypt) reader(r io.Reader, ref Ref, method Name) (io.Reader, error) {
	switch method {
	case "Identity":
		return r, nil
	case "AESV3":
		return newAES(r, c.key)
	case "AESV2":
		return newAES(r, c.objectKey(ref, "sAlT"))
	case "V2":
		stream, err := rc4.NewCipher(c.objectKey(ref, "")) //nolint:gosec // the format's
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errEncrypted, err)
		}
		return cipher.StreamReader{S: stream, R: r}, nil
	}
	return nil, errEncrypted
}

func (c *crypt) objectKey(ref Ref, salt string) []byte {
	text := append([]byte{}, c.key...)
	text = append(text, byte(ref.Object), byte(ref.Object>>8), byte(ref.Object>>16), byte(ref.Generation),
		byte(ref.Generation>>8))
	sum := md5.Sum(append(text, salt...)) //nolint:gosec // the format's
	return sum[:min(len(c.key)+5, 16)]
}

// aesReader decrypts AES in CBC mode. The padding stays: no filter reads it.
type aesReader struct {
	in    io.Reader
	mode  cipher.BlockMode
	block [512]byte
	left  []byte
}

func newAES(r io.Reader, key []byte) (io.Reader, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEncrypted, err)
	}
	var first [aes.BlockSize]byte
	if _, err := io.ReadFull(r, first[:]); err != nil {
		return bytes.NewReader(nil), nil //nolint:nilerr // an empty stream
	}
	return &aesReader{in: r, mode: cipher.NewCBCDecrypter(block, first[:])}, nil
}

func (a *aesReader) Read(p []byte) (int, error) {
	if len(a.left) == 0 {
		n, err := io.ReadFull(a.in, a.block[:])
		n -= n % aes.BlockSize
		if n == 0 {
			if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return 0, err
		}
		a.mode.CryptBlocks(a.block[:n], a.block[:n])
		a.left = a.block[:n]
	}
	n := copy(p, a.left)
	a.left = a.left[n:]
	return n, nil
}
