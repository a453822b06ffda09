// Package formula writes formulas in one line of text: MathML, and the formulas of Office files (OMML, ECMA-376
// part 1, 22.1). The form is that of UnicodeMath (Unicode Technical Note 28): (a+b)/c, x_i^2, ∑_(i=1)^n, √(x).
package formula

import (
	"encoding/xml"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxNodes = 50_000  // elements of one formula
	maxText  = 1 << 20 // bytes of one formula
	maxDepth = 200     // deeper elements are read as if they were this deep
	maxAttr  = 64      // bytes of an attribute, which each child may repeat; brackets and separators have few
)

// node is an element of a formula.
type node struct {
	name     string
	attrs    map[string]string
	text     strings.Builder
	children []*node
}

// read are the attributes that are read: of MathML, and the value of OMML's properties.
var read = map[string]bool{"val": true, "open": true, "close": true, "separators": true, "linethickness": true}

// Builder builds a formula from its elements. The zero value is empty.
type Builder struct {
	open        []*node
	root        *node
	nodes, text int
	deep        int // open elements below maxDepth
}

// Start begins an element. The error is quota_exceeded for a formula that nobody could read.
func (b *Builder) Start(name string, attrs map[string]string) error {
	if b.nodes++; b.nodes > maxNodes {
		return tooLarge()
	}
	if len(b.open) >= maxDepth {
		b.deep++
		return nil
	}
	for key, value := range attrs {
		if len(value) > maxAttr {
			attrs[key] = strings.ToValidUTF8(strings.Clone(value[:maxAttr]), "")
		}
	}
	n := &node{name: name, attrs: attrs}
	if len(b.open) > 0 {
		above := b.open[len(b.open)-1]
		above.children = append(above.children, n)
	} else if b.root == nil {
		b.root = n
	}
	b.open = append(b.open, n)
	return nil
}

// Text adds text to the open element.
func (b *Builder) Text(text string) error {
	if b.text += len(text); b.text > maxText {
		return tooLarge()
	}
	if len(b.open) > 0 {
		b.open[len(b.open)-1].text.WriteString(text)
	}
	return nil
}

// End ends the open element.
func (b *Builder) End() {
	switch {
	case b.deep > 0:
		b.deep--
	case len(b.open) > 0:
		b.open = b.open[:len(b.open)-1]
	}
}

// Depth returns the number of open elements.
func (b *Builder) Depth() int { return len(b.open) + b.deep }

// String returns the formula in one line.
func (b *Builder) String() string {
	if b.root == nil {
		return ""
	}
	return strings.Join(strings.Fields(write(b.root).text), " ")
}

func tooLarge() error {
	return taskerr.Errorf(taskerr.QuotaExceeded, "a formula has more than %d elements: it is not read", maxNodes)
}

// Read reads the element whose start was the last token, an m:oMath, an m:oMathPara or a math:math, and returns the
// formula in one line.
func Read(d *ooxml.Decoder, start xml.StartElement) (string, error) {
	var b Builder
	var walk func(xml.StartElement) error
	walk = func(start xml.StartElement) error {
		switch start.Name.Local {
		case "del", "moveFrom", "rPr": // deleted text, and how Word shows a run
			return d.Skip()
		}
		if err := b.Start(start.Name.Local, Attributes(start)); err != nil {
			return err
		}
		err := d.Children(walk, func(piece []byte) error { return b.Text(string(piece)) })
		b.End()
		return err
	}
	err := walk(start)
	return b.String(), err
}

// Attributes returns the attributes of an element that Builder reads.
func Attributes(start xml.StartElement) map[string]string {
	var attrs map[string]string
	for _, a := range start.Attr {
		if read[a.Name.Local] {
			if attrs == nil {
				attrs = map[string]string{}
			}
			attrs[a.Name.Local] = a.Value
		}
	}
	return attrs
}

// After returns a formula as it is written after a text: apart from a word.
func After(text, formula string) string {
	if r, _ := utf8.DecodeLastRuneInString(text); wordlike(r) {
		return " " + formula
	}
	return formula
}

// Before returns a text as it is written after a formula: a word is apart from it.
func Before(text string) string {
	if r, _ := utf8.DecodeRuneInString(text); wordlike(r) {
		return " " + text
	}
	return text
}
