package ooxml

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxToken = 4 << 20 // bytes of one tag or text; encoding/xml buffers the same again
	ctxEvery = 1024    // tokens between checks of the context
)

// Decoder reads the tokens of one part and limits their depth and size. Entities other than the five of XML are
// an error, so nothing expands.
type Decoder struct {
	ctx    context.Context
	xml    *xml.Decoder
	meter  *meter
	names  *names // nil: those of XML only
	depth  int
	limit  int
	tokens int
	cut    bool // see Cut
	ended  bool // at the end of the root: LibreOffice leaves the rest of a longer part behind it in some
}

func newDecoder(ctx context.Context, r io.Reader, depth int) *Decoder {
	m := &meter{ctx: ctx, r: fromUTF16(r)}
	x := xml.NewDecoder(m)
	d := &Decoder{ctx: ctx, xml: x, meter: m, limit: depth}
	x.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return input, nil // decoded by fromUTF16
		}
		decoded, err := charset.NewReaderLabel(label, input)
		if err != nil || d.names == nil {
			return decoded, err
		}
		d.names = d.names.in(decoded)
		return d.names, nil
	}
	return d
}

// fromUTF16 decodes a part that starts with the byte order mark of UTF-16.
func fromUTF16(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	mark, err := buffered.Peek(2)
	if err != nil || (mark[0] != 0xFE || mark[1] != 0xFF) && (mark[0] != 0xFF || mark[1] != 0xFE) {
		return buffered
	}
	return transform.NewReader(buffered, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
}

// Token returns the next token. A text's bytes are valid until the next call.
func (d *Decoder) Token() (xml.Token, error) {
	if d.tokens++; d.tokens%ctxEvery == 0 && d.ctx.Err() != nil {
		return nil, context.Cause(d.ctx)
	}
	if d.ended {
		return nil, io.EOF
	}
	d.meter.left = maxToken
	token, err := d.xml.Token()
	if err != nil {
		if errors.Is(err, errToken) {
			return nil, taskerr.Errorf(taskerr.CorruptionDetected,
				"the XML within the document has a piece of more than %d MB: it is not read", maxToken>>20)
		}
		if _, ok := errors.AsType[*taskerr.Error](err); ok || errors.Is(err, io.EOF) {
			return nil, err
		}
		if d.ctx.Err() != nil {
			return nil, context.Cause(d.ctx)
		}
		return nil, errMalformed // a *xml.SyntaxError, or an unknown version or encoding
	}
	switch token.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > d.limit {
			return nil, taskerr.Errorf(taskerr.CorruptionDetected,
				"the XML within the document is nested deeper than %d levels: it is not read", d.limit)
		}
	case xml.EndElement:
		d.depth--
		d.ended = d.depth == 0
	}
	return token, nil
}

// line returns the current line number.
func (d *Decoder) line() int {
	line, _ := d.xml.InputPos()
	return line
}

// Skip skips the element whose start was the last token.
func (d *Decoder) Skip() error {
	for level := 1; level > 0; {
		token, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		switch token.(type) {
		case xml.StartElement:
			level++
		case xml.EndElement:
			level--
		}
	}
	return nil
}

// Each calls f for each element in the rest of the part, at any depth.
func (d *Decoder) Each(f func(xml.StartElement) error) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if err := f(start); err != nil {
				return err
			}
		}
	}
}

// Children calls f for each child of the element whose start was the last token, and text for the element's own
// text, unless text is nil. f must read its element to the end.
func (d *Decoder) Children(f func(xml.StartElement) error, text func([]byte) error) error {
	for {
		token, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := f(t); err != nil {
				return err
			}
		case xml.CharData:
			if text == nil {
				continue
			}
			if err := text(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// Text returns the text of the element whose start was the last token, up to limit bytes.
func (d *Decoder) Text(limit int) (string, error) {
	var out []byte
	err := d.Children(
		func(xml.StartElement) error { return d.Skip() },
		func(piece []byte) error {
			if len(piece) > limit-len(out) && limit >= leastText {
				d.Cut()
			}
			out = append(out, piece[:min(len(piece), limit-len(out))]...)
			return nil
		})
	return string(out), err
}

// leastText is the limit of a text that is content, in bytes. Names and properties have smaller ones.
const leastText = 32 << 10

// Cut records that a text of the document is too long to be read in full.
func (d *Decoder) Cut() { d.cut = true }

// unexpected turns io.EOF within an element into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("element without an end: %w", io.ErrUnexpectedEOF)
	}
	return err
}

var (
	errToken     = errors.New("token too long")
	errMalformed = errors.New("no well-formed XML")
)

// meter limits the bytes that encoding/xml reads for one token. It checks the context, because a part may
// consist of a few tokens of megabytes.
type meter struct {
	ctx  context.Context
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errToken
	}
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	n, err := m.r.Read(p)
	m.left -= n
	return n, err
}

// Choice reads an mc:AlternateContent (part 3, 10.2) whose start was the last token: it calls read for the
// first choice, or for the fallback if there is no choice.
func (d *Decoder) Choice(read func() error) error {
	chosen := false
	return d.Children(func(start xml.StartElement) error {
		if chosen || start.Name.Local != "Choice" && start.Name.Local != "Fallback" {
			return d.Skip()
		}
		chosen = true
		return read()
	}, nil)
}
