package pdf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// markup reads poppler's output. It looks like XML but may have overlapping tags, stray text and control
// characters. So it is read as a flat sequence of tags and texts.
type markup struct {
	r   *bufio.Reader
	buf []byte
}

// maxToken limits one tag or one text, in bytes.
const maxToken = 1 << 20

var errToken = errors.New("a tag or text of poppler's output is longer than 1 MiB")

func newMarkup(r io.Reader) *markup { return &markup{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the text before the next tag, and the tag without its brackets. Both are valid until the next
// call. The end is io.EOF; an unclosed last tag is not returned.
func (m *markup) next() (text, tag []byte, err error) {
	m.buf = m.buf[:0]
	if err := m.until('<'); err != nil {
		return nil, nil, err
	}
	n := len(m.buf)
	if err := m.until('>'); err != nil {
		return nil, nil, err
	}
	return m.buf[:n-1], m.buf[n : len(m.buf)-1], nil
}

func (m *markup) until(end byte) error {
	for {
		part, err := m.r.ReadSlice(end)
		m.buf = append(m.buf, part...)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		case len(m.buf) > maxToken:
			return errToken
		}
	}
}

// tagName returns the name of a tag, with the slash of a closing tag.
func tagName(tag []byte) []byte {
	for i, c := range tag {
		switch c {
		case ' ', '\t', '\r', '\n':
			return tag[:i]
		case '/':
			if tag[0] != '/' { // else it is a closing tag
				return tag[:i]
			}
		}
	}
	return tag
}

// attribute returns the value of a tag's attribute, or nothing.
func attribute(tag []byte, name string) []byte {
	for rest := tag; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			return nil
		}
		after := rest[i+len(name):]
		if i > 0 && rest[i-1] == ' ' && bytes.HasPrefix(after, []byte(`="`)) {
			value := after[2:]
			if before, _, ok := bytes.Cut(value, []byte{'"'}); ok {
				return before
			}
			return nil
		}
		rest = after
	}
}

// number returns a tag's attribute as a number, or zero if it isn't a plausible one.
func number(tag []byte, name string) float64 {
	text := attribute(tag, name)
	v, ok := decimal(text)
	if !ok {
		var err error
		if v, err = strconv.ParseFloat(string(text), 64); err != nil {
			return 0
		}
	}
	if math.IsNaN(v) || math.Abs(v) > 1e6 {
		return 0
	}
	return v
}

// decimal returns a number of at most 15 digits without an exponent, as poppler prints them, exactly as
// strconv.ParseFloat does: both numbers that it divides are exact.
func decimal(text []byte) (v float64, ok bool) {
	const most = 15
	digits, after := 0, 1.0
	point := false
	rest, negative := bytes.CutPrefix(text, []byte{'-'})
	for _, c := range rest {
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			return 0, false
		}
		v = 10*v + float64(c-'0')
		if point {
			after *= 10
		}
		digits++
	}
	if negative {
		v = -v
	}
	return v / after, digits > 0 && digits <= most
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&#39;", "'", "&#160;", " ",
	"&nbsp;", " ", "&amp;", "&")

// plain unescapes the text between tags and replaces damaged bytes.
func plain(text []byte) string {
	s := string(text)
	if strings.IndexByte(s, '&') >= 0 {
		s = unescape.Replace(s)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
