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
func tagName(tag []byte) string {
	end := bytes.IndexAny(tag, " \t\r\n/")
	if end == 0 && len(tag) > 1 { // a closing tag
		if i := bytes.IndexAny(tag[1:], " \t\r\n"); i >= 0 {
			return string(tag[:i+1])
		}
		return string(tag)
	}
	if end < 0 {
		end = len(tag)
	}
	return string(tag[:end])
}

// attribute returns the value of a tag's attribute, or "".
func attribute(tag []byte, name string) string {
	for rest := tag; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			return ""
		}
		after := rest[i+len(name):]
		if i > 0 && rest[i-1] == ' ' && bytes.HasPrefix(after, []byte(`="`)) {
			value := after[2:]
			if before, _, ok := bytes.Cut(value, []byte{'"'}); ok {
				return string(before)
			}
			return ""
		}
		rest = after
	}
}

// number returns a tag's attribute as a number, or zero if it isn't a plausible one.
func number(tag []byte, name string) float64 {
	v, err := strconv.ParseFloat(attribute(tag, name), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
		return 0
	}
	return v
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&#39;", "'", "&#160;", " ",
	"&nbsp;", " ", "&amp;", "&")

// plain unescapes the text between tags and replaces damaged bytes.
func plain(text []byte) string {
	s := string(text)
	if strings.Contains(s, "&") {
		s = unescape.Replace(s)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
