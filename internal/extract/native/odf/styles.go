package odf

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxStyles  = 1 << 16 // kept styles; real documents have fewer
	maxParents = 20      // of a style, so that a cycle ends
	maxNumber  = 1 << 30 // of a list item
	maxPoints  = 10_000  // of a font
	maxLevel   = 9       // list levels are 1-10, here 0-9
)

// style holds the used attributes of a style:style. An empty field is inherited.
type style struct {
	parent string
	list   string // style:list-style-name
	hidden *bool  // text:display, table:display
	size   int    // fo:font-size in tenths of a point; 0: inherited
	bold   *bool  // fo:font-weight
	mark   bool   // style:text-position: superscript or subscript
	raised bool   // superscript
}

// level is one level of a text:list-style or of the text:outline-style.
type level struct {
	bullet         bool
	format         string // style:num-format: 1, a, A, i, I, or "" for none
	prefix, suffix string
	show           int // text:display-levels
	start          int
}

type listStyle struct{ levels [maxLevel + 1]level }

// styles holds the styles of a document.
type styles struct {
	byName   map[string]style // by family and name
	lists    map[string]*listStyle
	outline  *listStyle // of the headings
	standard int        // size of text without a style, in tenths of a point; 0: unknown
	language string
}

func newStyles() *styles {
	return &styles{byName: map[string]style{}, lists: map[string]*listStyle{}}
}

// element reads an element outside of the body if it defines styles.
func (s *styles) element(d *ooxml.Decoder, start xml.StartElement) error {
	switch start.Name.Local {
	case "style":
		return s.readStyle(d, start)
	case "default-style":
		return s.readDefault(d, start)
	case "list-style":
		l, err := readListStyle(d)
		if len(s.lists) < maxStyles {
			s.lists[ooxml.Attr(start, "name")] = l
		}
		return err
	case "outline-style":
		l, err := readListStyle(d)
		s.outline = l
		return err
	case "master-styles":
		return d.Skip() // headers, footers, the background of slides
	}
	return nil
}

func (s *styles) readStyle(d *ooxml.Decoder, start xml.StartElement) error {
	st := style{parent: ooxml.Attr(start, "parent-style-name"), list: ooxml.Attr(start, "list-style-name")}
	err := d.Children(func(start xml.StartElement) error {
		if strings.HasSuffix(start.Name.Local, "-properties") {
			if display := ooxml.Attr(start, "display"); display != "" && start.Name.Local != "drawing-page-properties" {
				hidden := display == "none" || display == "false"
				st.hidden = &hidden
			}
			st.size = max(st.size, tenths(ooxml.Attr(start, "font-size")))
			if weight := ooxml.Attr(start, "font-weight"); weight != "" {
				bold := weight == "bold" || weight >= "600" && weight <= "900"
				st.bold = &bold
			}
			position := ooxml.Attr(start, "text-position")
			st.mark = st.mark || position != "" && !strings.HasPrefix(position, "0%")
			st.raised = st.mark && !strings.HasPrefix(position, "sub") && !strings.HasPrefix(position, "-")
		}
		return d.Skip()
	}, nil)
	if len(s.byName) < maxStyles {
		s.byName[ooxml.Attr(start, "family")+" "+ooxml.Attr(start, "name")] = st
	}
	return err
}

// tenths parses a font's size in points. One in another unit is unknown: zero.
func tenths(size string) int {
	size, ok := strings.CutSuffix(size, "pt")
	points, err := strconv.ParseFloat(size, 64)
	if !ok || err != nil || points <= 0 || points >= maxPoints {
		return 0
	}
	return int(points * 10)
}

// readDefault reads the document's language and the size of its text from the paragraph defaults.
func (s *styles) readDefault(d *ooxml.Decoder, start xml.StartElement) error {
	family := ooxml.Attr(start, "family")
	return d.Children(func(start xml.StartElement) error {
		if start.Name.Local == "text-properties" && family == "paragraph" {
			s.standard = tenths(ooxml.Attr(start, "font-size"))
		}
		language, country := ooxml.Attr(start, "language"), ooxml.Attr(start, "country")
		if start.Name.Local == "text-properties" && language != "" && language != "none" &&
			(family == "paragraph" || s.language == "") {
			s.language = language
			if country != "" && country != "none" {
				s.language += "-" + country
			}
		}
		return d.Skip()
	}, nil)
}

func readListStyle(d *ooxml.Decoder) (*listStyle, error) {
	l := &listStyle{}
	for i := range l.levels {
		l.levels[i] = level{bullet: true, start: 1, show: 1}
	}
	return l, d.Children(func(start xml.StartElement) error {
		at, err := strconv.Atoi(ooxml.Attr(start, "level"))
		if err != nil || at < 1 || at > maxLevel+1 {
			return d.Skip()
		}
		l.levels[at-1] = level{
			bullet: start.Name.Local == "list-level-style-bullet" || start.Name.Local == "list-level-style-image",
			format: ooxml.Attr(start, "num-format"),
			prefix: extract.CutMarker(ooxml.Attr(start, "num-prefix")),
			suffix: extract.CutMarker(ooxml.Attr(start, "num-suffix")),
			show:   count(start, "display-levels", maxLevel+1),
			start:  count(start, "start-value", maxNumber),
		}
		return d.Skip()
	}, nil)
}

// find follows a style and its parents until known returns true.
func (s *styles) find(family, name string, known func(name string, st style) bool) bool {
	for range maxParents {
		st, ok := s.byName[family+" "+name]
		if known(name, st) {
			return true
		}
		if !ok || st.parent == "" {
			return false
		}
		name = st.parent
	}
	return false
}

func (s *styles) hidden(family, name string) (hidden bool) {
	if name == "" {
		return false
	}
	s.find(family, name, func(_ string, st style) bool {
		if st.hidden != nil {
			hidden = *st.hidden
		}
		return st.hidden != nil
	})
	return hidden
}

// size returns the size of the font in tenths of a point, or 0 if it is unknown.
func (s *styles) size(family, name string) (size int) {
	if name == "" {
		return 0
	}
	s.find(family, name, func(_ string, st style) bool {
		size = st.size
		return size > 0
	})
	return size
}

// font returns how a style sets text that is set as base without it.
func (s *styles) font(family, name string, base font) font {
	if name == "" {
		return base
	}
	f := base
	sized, weighed := false, false
	s.find(family, name, func(_ string, st style) bool {
		if st.size > 0 && !sized {
			f.size, sized = st.size, true
		}
		if st.bold != nil && !weighed {
			f.bold, weighed = *st.bold, true
		}
		f.mark = f.mark || st.mark
		return sized && weighed
	})
	return f
}

// raised reports whether a style of characters sets them above the line.
func (s *styles) raised(name string) bool {
	return name != "" && s.find("text", name, func(_ string, st style) bool { return st.raised })
}

// is reports whether a paragraph style is one of names, or based on one. A space in a name is encoded as _20_.
func (s *styles) is(paragraph string, names ...string) bool {
	return s.find("paragraph", paragraph, func(name string, _ style) bool {
		for _, n := range names {
			if strings.EqualFold(name, n) {
				return true
			}
		}
		return false
	})
}

// listOf returns the list style that a paragraph style names, or "".
func (s *styles) listOf(paragraph string) (list string) {
	s.find("paragraph", paragraph, func(_ string, st style) bool {
		list = st.list
		return list != ""
	})
	return list
}

// count parses a count attribute and clamps it to 1…limit.
func count(start xml.StartElement, attr string, limit int) int {
	n, err := strconv.Atoi(ooxml.Attr(start, attr))
	if errors.Is(err, strconv.ErrRange) {
		return limit
	}
	return min(max(n, 1), limit)
}
