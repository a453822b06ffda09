package pptx

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The namespaces of parts (transitional).
const (
	nsMain    = "http://schemas.openxmlformats.org/presentationml/2006/main"
	nsDrawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
	nsRel     = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	nsChart   = "http://schemas.openxmlformats.org/drawingml/2006/chart"
	nsSheet   = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	nsTypes   = "http://schemas.openxmlformats.org/package/2006/content-types"
	nsPackage = "http://schemas.openxmlformats.org/package/2006/relationships"

	relBase = nsRel + "/"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// markup builds XML. Attributes are pairs of name and value; a pair with an empty value is left out.
type markup struct {
	bytes.Buffer
	open []string
}

// begin writes a start tag.
func (m *markup) begin(name string, attrs ...string) {
	m.tag(name, attrs, ">")
	m.open = append(m.open, name)
}

// end writes the end tag of the last element that is open.
func (m *markup) end() {
	last := len(m.open) - 1
	m.WriteString("</" + m.open[last] + ">")
	m.open = m.open[:last]
}

// ends writes the end tags of several elements.
func (m *markup) ends(n int) {
	for range n {
		m.end()
	}
}

// empty writes an element without content.
func (m *markup) empty(name string, attrs ...string) { m.tag(name, attrs, "/>") }

// leaf writes an element with text.
func (m *markup) leaf(name, text string) {
	m.tag(name, nil, ">")
	m.WriteString(escape(text))
	m.WriteString("</" + name + ">")
}

func (m *markup) tag(name string, attrs []string, end string) {
	m.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			m.WriteString(" " + attrs[i] + `="` + escape(attrs[i+1]) + `"`)
		}
	}
	m.WriteString(end)
}

// part begins a part whose root has the namespaces of presentations.
func part(root string, attrs ...string) *markup {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin(root, append([]string{"xmlns:a", nsDrawing, "xmlns:r", nsRel, "xmlns:p", nsMain}, attrs...)...)
	return m
}

// escape writes text as XML, without the characters that XML can't have.
func escape(text string) string {
	if strings.IndexFunc(text, special) < 0 && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			out.WriteString("&amp;")
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '"':
			out.WriteString("&quot;")
		case r == '\n':
			out.WriteString("&#10;")
		case r == '\t':
			out.WriteString("&#9;")
		case r < ' ', r == 0xFFFE, r == 0xFFFF:
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func special(r rune) bool {
	return r < ' ' || r == '&' || r == '<' || r == '>' || r == '"' || r == 0xFFFE || r == 0xFFFF
}

func num[T int | int64](n T) string { return fmt.Sprint(n) }

// numOr is a number, or "" for zero.
func numOr[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// flag is "1" or "".
func flag(on bool) string {
	if on {
		return "1"
	}
	return ""
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}
