// Package charset reads text files of unknown encoding as UTF-8.
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	webcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// Name is an encoding's name in the WHATWG Encoding Standard, or utf-32le/be or ibm1047.
type Name string

// The encodings that are distinguished in particular; see also Detect.
const (
	UTF8        Name = "utf-8"
	UTF16LE     Name = "utf-16le"
	UTF16BE     Name = "utf-16be"
	UTF32LE     Name = "utf-32le"
	UTF32BE     Name = "utf-32be"
	Windows1252 Name = "windows-1252"
	EBCDIC      Name = "ibm1047"
)

var boms = []struct {
	mark []byte
	name Name
}{
	{[]byte{0xEF, 0xBB, 0xBF}, UTF8},
	{[]byte{0xFF, 0xFE, 0, 0}, UTF32LE}, // before UTF-16LE, whose byte order mark is its prefix
	{[]byte{0, 0, 0xFE, 0xFF}, UTF32BE},
	{[]byte{0xFF, 0xFE}, UTF16LE},
	{[]byte{0xFE, 0xFF}, UTF16BE},
}

// FromBOM returns the encoding of the byte order mark at the start of head, and the mark's length, or "" and 0.
func FromBOM(head []byte) (Name, int) {
	for _, b := range boms {
		if bytes.HasPrefix(head, b.mark) {
			return b.name, len(b.mark)
		}
	}
	return "", 0
}

// unmarkedUTF16 detects UTF-16 of mostly Latin text without a mark: every other byte is NUL.
func unmarkedUTF16(head []byte) Name {
	head = head[:min(len(head), 4096)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half < 4:
		return ""
	case zeros[1]*10 > half*7 && zeros[0]*10 < half:
		return UTF16LE
	case zeros[0]*10 > half*7 && zeros[1]*10 < half:
		return UTF16BE
	}
	return ""
}

// Decode returns the start of a text as UTF-8. head may end within a character.
func Decode(head []byte) string {
	text, _ := DecodeNamed(head)
	return text
}

// DecodeNamed is Decode with the name of the encoding.
func DecodeNamed(head []byte) (string, Name) {
	name, skip := FromBOM(head)
	if name == "" {
		name = unmarkedUTF16(head)
	}
	if name == "" {
		name = special(head)
	}
	if name == "" {
		var t tally
		t.add(head)
		name = t.verdict()
	}
	decoded, err := name.encoding().NewDecoder().Bytes(head[skip:])
	if err != nil {
		decoded = head[skip:]
	}
	return string(bytes.ToValidUTF8(decoded, nil)), name
}

// Open opens a text file and returns its content as UTF-8 without a byte order mark. Without a mark it first
// scans the whole file: if that is (nearly) valid UTF-8 it stays. Otherwise it is what Detect says, or what its letters
// say, or windows-1252.
func Open(path string) (io.ReadCloser, Name, error) {
	text, name, _, err := OpenWarned(path)
	return text, name, err
}

// OpenWarned is Open with the warnings about the encoding.
func OpenWarned(path string) (text io.ReadCloser, name Name, warnings []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", nil, fmt.Errorf("open text: %w", err)
	}
	name, skip, doubtful, err := guess(file)
	if err == nil {
		_, err = file.Seek(int64(skip), io.SeekStart)
	}
	if err != nil {
		_ = file.Close() // read-only
		return nil, "", nil, fmt.Errorf("read text: %w", err)
	}
	if doubtful {
		warnings = []string{Doubt}
	}
	return struct {
		io.Reader
		io.Closer
	}{transform.NewReader(file, name.encoding().NewDecoder()), file}, name, warnings, nil
}

func guess(r io.Reader) (name Name, skip int, doubtful bool, err error) {
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", 0, false, err
	}
	head = head[:n]
	if name, skip := FromBOM(head); name != "" {
		return name, skip, false, nil
	}
	if name := unmarkedUTF16(head); name != "" {
		return name, 0, false, nil
	}
	if name := special(head); name != "" {
		return name, 0, false, nil
	}
	var t tally
	t.add(head)
	buffer := make([]byte, 64<<10)
	for t.undecided() {
		n, err := r.Read(buffer)
		t.add(buffer[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", 0, false, err
		}
	}
	name, doubtful = t.judge()
	return name, 0, doubtful, nil
}

// tally counts the evidence for and against UTF-8. One broken byte in a long UTF-8 file must not turn all its
// umlauts into two characters each.
type tally struct {
	multibyte int    // valid characters of two bytes and more
	invalid   int    // bytes that UTF-8 doesn't allow there
	rest      []byte // an incomplete character at the end of the last piece
	sample    []byte // of the text with bytes beyond ASCII, for Detect
}

func (t *tally) add(piece []byte) {
	if room := maxSample - len(t.sample); room > 0 && bytes.ContainsFunc(piece, notASCII) {
		t.sample = append(t.sample, piece[:min(len(piece), room)]...)
	}
	if len(t.rest) > 0 {
		piece = append(t.rest, piece...)
		t.rest = nil
	}
	for len(piece) > 0 {
		if piece[0] < utf8.RuneSelf {
			piece = piece[1:]
			continue
		}
		if !utf8.FullRune(piece) {
			t.rest = append([]byte(nil), piece...)
			return
		}
		r, size := utf8.DecodeRune(piece)
		if r == utf8.RuneError && size == 1 {
			t.invalid++
		} else {
			t.multibyte++
		}
		piece = piece[size:]
	}
}

// undecided returns false early for a file that is clearly not UTF-8.
func (t *tally) undecided() bool { return t.invalid < 1000 || t.invalid*10 < t.multibyte }

func (t *tally) verdict() Name {
	name, _ := t.judge()
	return name
}

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

// Decoder returns a decoder of the encoding to UTF-8.
func (n Name) Decoder() *encoding.Decoder { return n.encoding().NewDecoder() }

func (n Name) encoding() encoding.Encoding {
	switch n {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case UTF32LE:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case UTF32BE:
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case Windows1252:
		return charmap.Windows1252
	case EBCDIC:
		return ebcdic{}
	case UTF8:
		return unicode.UTF8 // replaces invalid bytes with U+FFFD
	}
	if e, _ := webcharset.Lookup(string(n)); e != nil {
		return e
	}
	return unicode.UTF8
}
