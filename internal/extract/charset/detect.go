package charset

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	webcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// detectable are the encodings that are detected by the frequency of their characters, by the detector's names, as the
// WHATWG Encoding Standard names them. Those of Latin letters are not among them: their texts have few letters that
// differ, which is too little for frequencies; see byLetters.
var detectable = map[string]Name{
	"IBM866": "ibm866", "Windows-1251": "windows-1251", "KOI8-R": "koi8-r", "ISO-8859-5": "iso-8859-5",
	"MacCyrillic": "x-mac-cyrillic", "ISO-8859-7": "windows-1253", "Windows-1253": "windows-1253",
	"Windows-1255": "windows-1255", "ISO-8859-8": "windows-1255", "TIS-620": "windows-874",
	"SHIFT_JIS": "shift_jis", "EUC-JP": "euc-jp", "GB2312": "gb18030", "GB18030": "gb18030", "Big5": "big5",
	"EUC-KR": "euc-kr", "CP949": "euc-kr",
}

const (
	maxSample  = 64 << 10 // bytes that are examined
	fewLetters = 20       // bytes beyond ASCII: less are not judged

	// Of the letters in a text of a non-Latin script at least this share is beyond ASCII; in one of Latin letters it is
	// about 0.05.
	foreignShare = 0.15

	likely = 0.85 // confidence of the detector that counts if nothing is declared
	sure   = 0.95 // and against what is declared
)

// Detect returns the encoding of a text in a non-Latin script that is not Unicode, or "" if it can't tell. certain
// means that it is more likely right than a declaration.
func Detect(text []byte) (name Name, certain bool) {
	text = text[:min(len(text), maxSample)]
	if name = special(text); name != "" {
		return name, true
	}
	letters, high := 0, 0
	for _, b := range text {
		switch {
		case b >= utf8.RuneSelf:
			high++
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			letters++
		}
	}
	if high == 0 || float64(high) < foreignShare*float64(letters+high) {
		return "", false
	}
	if high >= fewLetters {
		found := chardet.Detect(text)
		if name = detectable[found.Encoding]; name != "" && found.Confidence >= likely {
			return name, found.Confidence >= sure
		}
	}
	if isShortJapanese(text) {
		return "shift_jis", false
	}
	return "", false
}

// notWindows1252 are the bytes that windows-1252 leaves undefined.
const notWindows1252 = "\x81\x8D\x8F\x90\x9D"

// isShortJapanese recognizes Shift_JIS in a text that is too short for frequencies, such as a small table: all of it is
// valid, most of its characters are in the rows of kana and common kanji and beside each other, and it has bytes that
// windows-1252 leaves undefined.
func isShortJapanese(text []byte) bool {
	pairs, common, together, undefined, last := 0, 0, 0, false, -2
	for i := 0; i < len(text); i++ {
		lead := text[i]
		if lead < utf8.RuneSelf {
			continue
		}
		if i++; i == len(text) {
			break // the sample ends within a character
		}
		trail := text[i]
		if lead == 0x80 || lead >= 0xA0 && lead <= 0xDF || lead > 0xFC || trail < 0x40 || trail == 0x7F || trail > 0xFC {
			return false
		}
		pairs++
		if last == i-2 {
			together++
		}
		last = i
		if lead >= 0x81 && lead <= 0x83 || lead >= 0x88 && lead <= 0x9F {
			common++
		}
		undefined = undefined || strings.IndexByte(notWindows1252, lead) >= 0 || strings.IndexByte(notWindows1252, trail) >= 0
	}
	return undefined && common*5 >= pairs*4 && together*3 >= pairs
}

// special recognizes encodings whose texts may look like ASCII or Latin letters: of IBM's mainframes, and of Japanese
// mail (RFC 1468). A text that is UTF-8 is neither, whatever bytes or escape sequences it has.
func special(text []byte) Name {
	var t tally
	if t.add(text); t.multibyte > 0 && t.invalid == 0 {
		return ""
	}
	switch {
	case isEBCDIC(text):
		return EBCDIC
	case isJapaneseMail(text):
		return "iso-2022-jp"
	}
	return ""
}

// isJapaneseMail reports whether a text, which has only bytes of ASCII then, switches to Japanese and back.
func isJapaneseMail(text []byte) bool {
	if bytes.ContainsFunc(text, notASCII) {
		return false
	}
	for _, to := range []string{"\x1B$B", "\x1B$@"} {
		if _, after, ok := bytes.Cut(text, []byte(to)); ok &&
			(bytes.Contains(after, []byte("\x1B(B")) || bytes.Contains(after, []byte("\x1B(J"))) {
			return true
		}
	}
	return false
}

// ebcdic is code page 1047, whose lines end with NEL (0x15) on z/OS.
type ebcdic struct{}

func (ebcdic) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: transform.Chain(charmap.CodePage1047.NewDecoder(), runes.Map(func(r rune) rune {
		if r == '\u0085' {
			return '\n'
		}
		return r
	}))}
}

func (ebcdic) NewEncoder() *encoding.Encoder { return charmap.CodePage1047.NewEncoder() }

// isEBCDIC recognizes text of IBM's mainframes: blanks are 0x40, and letters and digits lie where ASCII has none.
func isEBCDIC(text []byte) bool {
	const least = 32
	if len(text) < least {
		return false
	}
	blanks, words, ascii := 0, 0, 0
	for _, b := range text {
		switch low := b & 0x0F; {
		case b == 0x40:
			blanks++
		case b >= 0x81 && b <= 0xA9 && low >= 1 && low <= 9, b >= 0xC1 && b <= 0xE9 && low >= 1 && low <= 9, b >= 0xF0 && low <= 9:
			words++
		case b == ' ' || b == '\n' || b >= 'a' && b <= 'z':
			ascii++
		}
	}
	return blanks*20 > len(text) && (blanks+words)*10 > len(text)*7 && ascii*20 < len(text)
}

// Labelled returns a text as UTF-8 that is declared to be in the encoding of the label. Where the text itself shows
// that the label is wrong, the text decides. decoded is false for one that is returned as it is: its encoding is not
// known.
func Labelled(r io.Reader, label string) (text io.Reader, decoded bool) {
	declared, name := webcharset.Lookup(strings.TrimSpace(label))
	if declared == nil {
		return r, false
	}
	buffered := bufio.NewReaderSize(r, maxSample)
	head, _ := buffered.Peek(maxSample) // a short text is not an error
	if name == string(UTF8) {
		var t tally
		t.add(head)
		return buffered, t.verdict() == UTF8
	}
	if e := Contradicted(head, Name(name)); e != nil {
		declared = e
	}
	return transform.NewReader(buffered, declared.NewDecoder()), true
}

// Contradicted returns the encoding of a text that is surely not in the declared one, or nil.
func Contradicted(head []byte, declared Name) encoding.Encoding {
	var t tally
	t.add(head)
	if t.invalid == 0 && t.multibyte >= 2 {
		return UTF8.encoding()
	}
	if name, certain := Detect(head); certain && name != declared && !related[name][declared] {
		return name.encoding()
	}
	return nil
}

// related are declarations that mean the same as a detected encoding, or more than it.
var related = map[Name]map[Name]bool{
	"gb18030":      {"gbk": true, "gb18030": true, "hz-gb-2312": true},
	"windows-1253": {"iso-8859-7": true},
	"windows-1255": {"iso-8859-8": true, "iso-8859-8-i": true},
	"iso-2022-jp":  {"iso-2022-jp": true},
	"big5":         {"big5-hkscs": true},
	"koi8-r":       {"koi8-u": true},
}
