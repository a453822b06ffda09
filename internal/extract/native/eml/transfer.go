package eml

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
)

// transferred decodes a part's transfer encoding (RFC 2045, section 6). It tolerates what mailers make of the
// rules: damage costs only the damaged place. An unknown encoding is passed through.
func transferred(h header, r io.Reader) io.Reader {
	encoding, _, _ := strings.Cut(h.Get("Content-Transfer-Encoding"), ";")
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return &lenient{base64.NewDecoder(base64.RawStdEncoding, &alphabet{r: bufio.NewReader(r)})}
	case "quoted-printable":
		return &quoted{r: bufio.NewReader(r)}
	}
	return r
}

// alphabet passes only base64 characters, up to the padding.
type alphabet struct {
	r   io.Reader
	end bool
}

func (a *alphabet) Read(p []byte) (int, error) {
	for !a.end {
		n, err := a.r.Read(p)
		kept := 0
		for _, b := range p[:n] {
			if b == '=' {
				a.end = true
				break
			}
			if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/' {
				p[kept] = b
				kept++
			}
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
	return 0, io.EOF
}

// lenient treats truncated base64 as if it ended there.
type lenient struct{ r io.Reader }

func (l *lenient) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if _, broken := errors.AsType[base64.CorruptInputError](err); broken || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// quoted decodes quoted-printable; an "=" that starts no escape is literal.
type quoted struct{ r *bufio.Reader }

func (q *quoted) Read(p []byte) (int, error) {
	for n := range p {
		b, err := q.r.ReadByte()
		for err == nil && b == '=' && q.softBreak() {
			b, err = q.r.ReadByte()
		}
		if err != nil {
			return n, err
		}
		if next, _ := q.r.Peek(2); b == '=' && len(next) == 2 && isHex(next[0]) && isHex(next[1]) {
			b = unhex(next[0])<<4 | unhex(next[1])
			_, _ = q.r.Discard(2) // peeked above
		}
		p[n] = b
	}
	return len(p), nil
}

// maxBlanks is how many blanks between "=" and the line end are skipped.
const maxBlanks = 80

// softBreak skips a soft line break.
func (q *quoted) softBreak() bool {
	for ahead := 1; ahead <= maxBlanks; ahead++ {
		next, err := q.r.Peek(ahead)
		if err != nil {
			return false
		}
		switch next[ahead-1] {
		case ' ', '\t', '\r':
		case '\n':
			_, _ = q.r.Discard(ahead) // peeked above
			return true
		default:
			return false
		}
	}
	return false
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// unhex returns the value of a hexadecimal digit.
func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b&^0x20 - 'A' + 10
}

// asText converts a text part to UTF-8 from its declared encoding, and joins the lines of a flowed one. Without a
// declaration, or with a meaningless one (US-ASCII is often declared by default), the part's extractor detects the encoding.
func asText(kind string, params map[string]string, r io.Reader) io.Reader {
	label, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(params["charset"])), " ") // a comment may follow
	decoded := false
	if label != "us-ascii" && label != "ascii" {
		r, decoded = charset.Labelled(r, label)
	}
	switch {
	case kind == "text/plain":
		return newFlowed(params, r)
	case decoded && kind == "text/html":
		// A byte order mark overrides the encoding that the HTML declares.
		return io.MultiReader(bytes.NewReader([]byte("\xEF\xBB\xBF")), r)
	}
	return r
}
