package rtf

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	symbols "github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

const (
	symbolPage = 42 // the code page of symbol fonts
	ansiPage   = 1252
	maxRaw     = 4096 // buffered bytes
)

// charsetPages maps \fcharset values to code pages.
var charsetPages = map[int]int{
	2: symbolPage, 77: 10000, 128: 932, 129: 949, 130: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258,
	177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 437,
}

var codePages = map[int]encoding.Encoding{
	437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855,
	858: charmap.CodePage858,
	860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863, 865: charmap.CodePage865,
	866: charmap.CodePage866,
	874: charmap.Windows874, 932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR,
	950:  traditionalchinese.Big5,
	1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253,
	1254: charmap.Windows1254,
	1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257, 1258: charmap.Windows1258,
	10000: charmap.Macintosh, 10007: charmap.MacintoshCyrillic, 54936: simplifiedchinese.GB18030, 65001: unicode.UTF8,
}

// font is an entry of the font table.
type font struct {
	name string
	page int  // code page; 0: the document's
	ansi bool // it has \fcharset0
}

// codePage returns the code page of the bytes that come next.
//
// By the specification \fcharset0 is Windows-1252. But some programs give it to all fonts, also where their text is in the
// document's code page, for example WordPad in a Russian Windows. It is believed if another font has the charset of that
// code page.
func (r *reader) codePage() int {
	if r.to != body && r.to != label {
		return r.page
	}
	switch f := r.fonts[r.font]; {
	case f.page != 0:
		return f.page
	case f.ansi && r.charsets[r.page]:
		return ansiPage
	}
	return r.page
}

// raw buffers bytes of one code page, which are decoded together.
type raw struct {
	bytes []byte
	page  int
	lead  bool // the last byte is the first of a pair
}

func (w *raw) add(b byte) {
	w.bytes = append(w.bytes, b)
	if w.lead {
		w.lead = false
		return
	}
	switch w.page {
	case 932:
		w.lead = b >= 0x81 && b <= 0x9F || b >= 0xE0 && b <= 0xFC
	case 936, 949, 950, 54936:
		w.lead = b >= 0x81 && b <= 0xFE
	}
}

// take returns the decoded text and resets the buffer.
func (w *raw) take() string {
	page, ok := codePages[w.page]
	if !ok {
		page = charmap.Windows1252
	}
	text, err := page.NewDecoder().Bytes(w.bytes)
	if err != nil {
		text = []byte(strings.Repeat(string(utf8.RuneError), len(w.bytes)))
	}
	w.bytes, w.lead = w.bytes[:0], false
	return string(text)
}

// symbolChar returns a character of a symbol font.
func symbolChar(fontName string, code int) string {
	if code <= ' ' || code < 'A' && strings.HasPrefix(fontName, "symbol") {
		return string(rune(code)) // digits and punctuation are as in ASCII
	}
	return symbols.Text(fontName, fmt.Sprintf("%X", code))
}
