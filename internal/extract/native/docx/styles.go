package docx

import (
	"cmp"
	"encoding/xml"
	"iter"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// bodyText is the outline level of text that is not a heading (w:outlineLvl, 17.3.1.20).
const bodyText = 9

// numbers is a paragraph's w:numPr: its list and level there. nil means unset.
type numbers struct {
	id    *int // 0 removes the paragraph from its list
	level *int
}

// style is one w:style, or the result of resolving one.
type style struct {
	name    string // lower-case; built-in names are English in every language of Word
	basedOn string
	outline *int // 0-8; nil: unset
	numbers numbers
	mono    bool // has a monospaced font
	font    font
}

// styles holds the styles.
type styles struct {
	byID     map[string]*style // of paragraphs
	byRun    map[string]*style // of characters
	font     font              // of text without a style
	standard string            // id of the default style
	language string            // default language of the text
}

// headingName matches the built-in name of a heading style and the id that most programs give it.
var headingName = pattern.New(`^heading ?([1-9])$`)

// codeFont matches the fonts whose letters have one width. Monotype is a foundry.
var codeFont = pattern.New(`(?i)courier|consol|mono\b|monospace|monaco|menlo|fira code|cascadia|source code|typewriter`)

func (s *styles) read(d *ooxml.Decoder) error {
	s.byID, s.byRun = map[string]*style{}, map[string]*style{}
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "docDefaults":
			return s.defaults(d)
		case "style":
			if len(s.byID)+len(s.byRun) >= maxDefined {
				return d.Skip()
			}
			switch ooxml.Attr(start, "type") {
			case "paragraph", "":
				return s.style(d, start, s.byID)
			case "character":
				return s.style(d, start, s.byRun)
			}
			return d.Skip()
		}
		return nil
	})
}

func (s *styles) defaults(d *ooxml.Decoder) error {
	return d.Children(func(start xml.StartElement) error {
		if start.Name.Local == "lang" {
			s.language = ooxml.Attr(start, "val")
		}
		s.font.read(start)
		return s.defaults(d)
	}, nil)
}

func (s *styles) style(d *ooxml.Decoder, start xml.StartElement, all map[string]*style) error {
	st := &style{}
	id := ooxml.Attr(start, "styleId")
	all[id] = st
	if ooxml.Attr(start, "type") != "character" && on(ooxml.Attr(start, "default")) && ooxml.Attr(start, "default") != "" {
		s.standard = id
	}
	return d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "name":
			st.name = strings.ToLower(ooxml.Attr(start, "val"))
		case "basedOn":
			st.basedOn = ooxml.Attr(start, "val")
		case "pPr":
			return d.Children(func(start xml.StartElement) error { return st.property(d, start) }, nil)
		case "rPr":
			return d.Children(func(start xml.StartElement) error {
				st.mono = st.mono || start.Name.Local == "rFonts" && codeFont.MatchString(ooxml.Attr(start, "ascii"))
				st.font.read(start)
				return d.Skip()
			}, nil)
		}
		return d.Skip()
	}, nil)
}

func (st *style) property(d *ooxml.Decoder, start xml.StartElement) error {
	switch start.Name.Local {
	case "outlineLvl":
		st.outline = number(start)
	case "numPr":
		return st.numbers.read(d)
	}
	return d.Skip()
}

// read reads a w:numPr.
func (n *numbers) read(d *ooxml.Decoder) error {
	return d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "ilvl":
			n.level = number(start)
		case "numId":
			n.id = number(start)
		}
		return d.Skip()
	}, nil)
}

// number returns the value of an element, or nil if it is not a number.
func number(start xml.StartElement) *int {
	n, err := strconv.Atoi(ooxml.Attr(start, "val"))
	if err != nil {
		return nil
	}
	return &n
}

// on parses ST_OnOff (22.9.2.7); a missing value is on.
func on(value string) bool { return value != "0" && value != "false" && value != "off" }

// chain yields a style and those that it is based on, with their ids.
func (s *styles) chain(id string) iter.Seq2[string, *style] {
	return func(yield func(string, *style) bool) {
		id := cmp.Or(id, s.standard)
		for range 20 { // the chain may be a cycle
			st, ok := s.byID[id]
			if !ok || !yield(id, st) {
				return
			}
			id = st.basedOn
		}
	}
}

// resolve follows the chain of basedOn; a style inherits what it doesn't set.
func (s *styles) resolve(id string) style {
	st := style{}
	for at, next := range s.chain(id) {
		if st.name == "" {
			st.name = next.name
		}
		if st.outline == nil {
			st.outline = next.outline
		}
		if st.outline == nil {
			st.outline = builtInLevel(next.name)
		}
		st.numbers.id = cmp.Or(st.numbers.id, next.numbers.id)
		st.mono = st.mono || next.mono && at != s.standard
		st.font = st.font.or(next.font)
	}
	if st.name == "" { // a style that is used but not defined
		st.name = strings.ToLower(id)
		st.outline = cmp.Or(st.outline, builtInLevel(st.name))
	}
	return st
}

func builtInLevel(name string) *int {
	m := headingName.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	level := int(m[1][0]-'0') - 1
	return &level
}

// isCode recognizes the names that Word, LibreOffice and pandoc give to code styles.
func (st style) isCode() bool {
	switch st.name {
	case "code", "source code", "html preformatted", "preformatted text", "verbatim", "macro text", "plain code",
		"code block":
		return true
	}
	return st.mono && st.name != "plain text"
}
