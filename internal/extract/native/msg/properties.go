package msg

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	webcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
)

// Properties of messages, recipients and attachments ([MS-OXPROPS]).
const (
	pidClass         = 0x001A
	pidSubject       = 0x0037
	pidSubmitted     = 0x0039
	pidSentFor       = 0x0042
	pidSentForAddr   = 0x0065
	pidRecipientType = 0x0C15
	pidSender        = 0x0C1A
	pidSenderAddress = 0x0C1F
	pidDelivered     = 0x0E06
	pidDisplayCc     = 0x0E03
	pidDisplayTo     = 0x0E04
	pidBody          = 0x1000
	pidRTF           = 0x1009
	pidHTML          = 0x1013
	pidMessageID     = 0x1035
	pidDisplayName   = 0x3001
	pidAddress       = 0x3003
	pidSMTPAddress   = 0x39FE
	pidContent       = 0x3701
	pidShortName     = 0x3704
	pidLongName      = 0x3707
	pidFlags         = 0x3714
	pidBodyCodePage  = 0x3FDE
	pidCodePage      = 0x3FFD
	pidSenderSMTP    = 0x5D01
	pidSentForSMTP   = 0x5D02
	pidHidden        = 0x7FFE
)

// Types of properties ([MS-OXCDATA] 2.11.1).
const (
	typeObject = 0x000D
	typeString = 0x001E
	typeWide   = 0x001F
	typeBinary = 0x0102
)

const (
	maxField      = 64 << 10 // bytes of a text property other than a body
	maxProperties = 1 << 20  // bytes of the stream of fixed properties
)

// object is a message, a recipient or an attachment: a storage with its properties ([MS-OXMSG] 2.1).
type object struct {
	file  *compound.File
	path  string            // of the storage, with a slash at its end; empty: the root
	fixed map[uint16]uint64 // properties of up to 8 bytes
	code  encoding.Encoding // of 8-bit strings
}

// Sizes of the header before the fixed properties (2.4.1).
const (
	messageHeader  = 32
	embeddedHeader = 24
	otherHeader    = 8
)

func newObject(file *compound.File, path string, header int) object {
	o := object{file: file, path: path, fixed: map[uint16]uint64{}, code: charmap.Windows1252}
	stream := file.Read(path+"__properties_version1.0", maxProperties)
	for at := header; at+16 <= len(stream); at += 16 {
		o.fixed[binary.LittleEndian.Uint16(stream[at+2:])] = binary.LittleEndian.Uint64(stream[at+8:])
	}
	if known, ok := o.strings(); ok {
		o.code = known
	}
	return o
}

// strings returns the encoding of an object's 8-bit strings. Most programs declare it. Those that don't write what the
// text itself shows, or what they declare for the body on its way through the internet.
func (o object) strings() (encoding.Encoding, bool) {
	if known, ok := codePage(o.fixed[pidCodePage]); ok {
		return known, true
	}
	if name, certain := charset.Detect(o.file.Read(o.stream(pidBody, typeString), maxField)); certain {
		if known, _ := webcharset.Lookup(string(name)); known != nil {
			return known, true
		}
	}
	known, ok := codePage(o.fixed[pidBodyCodePage])
	return known, ok && known != unicode.UTF8 // which no program writes in these strings
}

// codePage returns the encoding of a Windows code page.
func codePage(number uint64) (encoding.Encoding, bool) {
	switch uint32(number) {
	case 0:
		return nil, false
	case 65001, 20127:
		return unicode.UTF8, true
	}
	for _, label := range []string{"windows-%d", "cp%d", "ibm%d"} {
		if known, _ := webcharset.Lookup(fmt.Sprintf(label, uint32(number))); known != nil {
			return known, true
		}
	}
	label := map[uint32]string{
		932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso-2022-jp",
		51932: "euc-jp", 51949: "euc-kr", 54936: "gb18030",
	}[uint32(number)]
	if n := uint32(number) - 28590; n >= 1 && n <= 16 {
		label = "iso-8859-" + strconv.Itoa(int(n))
	}
	known, _ := webcharset.Lookup(label)
	return known, known != nil
}

func (o object) stream(id, kind uint16) string {
	return fmt.Sprintf("%s__substg1.0_%04X%04X", o.path, id, kind)
}

// has reports whether there is a property of a type in a stream of its own that isn't empty.
func (o object) has(id, kind uint16) bool { return len(o.file.Read(o.stream(id, kind), 1)) > 0 }

// open returns a text property as UTF-8, empty if there is none.
func (o object) open(id uint16) io.Reader {
	if o.has(id, typeWide) {
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(o.file.Stream(o.stream(id, typeWide)))
	}
	return o.code.NewDecoder().Reader(o.file.Stream(o.stream(id, typeString)))
}

// text returns a short text property on one line.
func (o object) text(id uint16) string {
	text, _ := io.ReadAll(io.LimitReader(o.open(id), maxField)) // what can't be read is missing
	return strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(string(text), "\x00", ""), "")), " ")
}

// time returns a property of a time ([MS-DTYP] FILETIME: units of 100 ns since 1601) in RFC 3339, or "".
func (o object) time(id uint16) string {
	const unitsPerSecond, epoch = 10_000_000, 11_644_473_600
	seconds := int64(o.fixed[id]/unitsPerSecond) - epoch
	if seconds <= -epoch || seconds > 253402300799 { // to the year 9999
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}
