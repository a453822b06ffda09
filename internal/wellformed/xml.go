package wellformed

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// XML reads r to its end and returns nil if it is one well-formed XML document: ErrEmpty, an *Error, or the error of r.
func XML(r io.Reader, l Limits) error {
	x := newXMLReader(r, l.withDefaults())
	for {
		token, err := x.decoder.Token()
		if errors.Is(err, io.EOF) {
			return x.end()
		}
		if err != nil {
			return x.problem(err)
		}
		x.done = x.decoder.InputOffset()
		if err := x.take(token); err != nil {
			return err
		}
	}
}

// xmlReader is the state of one check.
type xmlReader struct {
	decoder *xml.Decoder
	source  *source
	limits  Limits
	done    int64 // the end of the last token
	depth   int
	roots   int
	any     bool // there was something
}

func newXMLReader(r io.Reader, l Limits) *xmlReader {
	x := &xmlReader{limits: l, source: &source{from: r, limit: l.Token}}
	x.source.used = func() int64 { return x.done }
	x.decoder = xml.NewDecoder(bufio.NewReaderSize(x.source, ahead/2))
	x.decoder.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		decoded, err := charset.NewReaderLabel(label, in)
		if err != nil {
			return nil, errors.New("unknown encoding")
		}
		// From here the decoder's offsets count the bytes of the decoded text.
		outer := x.source
		outer.used = nil
		x.source = &source{from: decoded, limit: l.Token, used: func() int64 { return x.done }, read: x.decoder.InputOffset()}
		return bufio.NewReaderSize(&inner{x.source, outer}, ahead/2), nil
	}
	return x
}

// inner reads decoded text; an error of the bytes below it is kept.
type inner struct {
	*source
	below *source
}

func (i *inner) Read(b []byte) (int, error) {
	n, err := i.source.Read(b)
	if i.below.failed != nil {
		i.failed = i.below.failed
	}
	return n, err
}

func (x *xmlReader) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return broken(x.done, "it has a DOCTYPE or another declaration of a DTD")
	case xml.StartElement:
		x.any = true
		if x.depth == 0 {
			x.roots++
		}
		if x.depth++; x.depth > x.limits.Depth {
			return broken(x.done, "its elements are nested more than %d levels deep", x.limits.Depth)
		}
		if x.roots > 1 {
			return broken(x.done, "it has more than one root element")
		}
	case xml.EndElement:
		x.depth--
	case xml.CharData:
		if text := bytes.TrimPrefix(t, []byte("\ufeff")); x.depth == 0 && len(bytes.TrimSpace(text)) > 0 {
			x.any = true
			return broken(x.done, "it has text outside of its root element")
		}
	default:
		x.any = true
	}
	return nil
}

func (x *xmlReader) end() error {
	switch {
	case x.source.failed != nil:
		return x.source.failed
	case x.roots == 0 && !x.any:
		return ErrEmpty
	case x.roots == 0:
		return broken(x.done, "it has no root element")
	}
	return nil
}

// problem converts an error of the decoder. Messages of encoding/xml may quote the document.
func (x *xmlReader) problem(err error) error {
	at := x.decoder.InputOffset()
	syntax, isSyntax := errors.AsType[*xml.SyntaxError](err)
	switch {
	case errors.Is(err, errToken):
		return broken(at, "a text, tag or comment is larger than %d MB", x.limits.Token>>20)
	case x.source.failed != nil:
		return x.source.failed
	case isSyntax && strings.Contains(syntax.Msg, "entity"):
		return broken(at, "it uses an entity that XML does not define")
	case isSyntax && strings.Contains(syntax.Msg, "unexpected EOF"):
		return broken(at, "it ends in the middle")
	case strings.Contains(err.Error(), "encoding"):
		return broken(at, "it is in an unknown encoding")
	}
	return broken(at, "it is not well-formed XML")
}
