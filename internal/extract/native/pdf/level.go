package pdf

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// outlineIndex finds the levels of headings in the document's outline (its bookmarks).
type outlineIndex struct {
	levels map[string]int // by title
	pages  map[string]int
}

func newOutlineIndex(items []outlineItem) outlineIndex {
	x := outlineIndex{map[string]int{}, map[string]int{}}
	for _, item := range items {
		key := outlineKey(item.title)
		if _, twice := x.levels[key]; key != "" && !twice {
			x.levels[key], x.pages[key] = item.level, item.page
		}
	}
	return x
}

// level returns the level of a heading's text, or zero if the outline doesn't have it.
func (x outlineIndex) level(text string) int {
	if l := x.levels[outlineKey(text)]; l > 0 {
		return l
	}
	return x.levels[outlineKey(sectionNumber.ReplaceAllString(text, ""))]
}

// names reports whether the outline names text on the page.
func (x outlineIndex) names(text string, page int) bool {
	key := outlineKey(text)
	return key != "" && x.pages[key] == page
}

var sectionNumber = pattern.New(`^[\dIVX]+(\.\d+)*\.?\s+`)

func outlineKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// levels assigns levels to headings. The outline decides for headings that it names, and otherwise the more prominent
// style is higher: a heading is one level below the nearest preceding one that is higher. Numbers decide between numbered
// headings, whatever is between them.
type levels struct {
	outline  outlineIndex
	open     []openHeading
	numbered map[numberedLook]int // level
}

type openHeading struct {
	look
	caps  bool
	depth int // of its number; zero: none
	level int
}

// numberedLook is what numbered headings of one level have in common.
type numberedLook struct {
	depth int
	size  float64
	bold  bool
}

// next returns the level of the next heading, 1-6.
func (ls *levels) next(l look, text string) int {
	h := openHeading{look: l, caps: inCapitals(text), depth: depthOf(text)}
	key := numberedLook{h.depth, h.size, h.bold}
	named := ls.outline.level(text)
	if named == 0 && h.depth > 0 {
		named = ls.numbered[key]
	}
	for n := len(ls.open); n > 0; n = len(ls.open) {
		top := ls.open[n-1]
		if named > 0 && top.level < named || named == 0 && top.above(h) {
			break
		}
		ls.open = ls.open[:n-1]
	}
	switch n := len(ls.open); {
	case named > 0:
		h.level = named
	case n > 0:
		h.level = ls.open[n-1].level + 1
	default:
		h.level = 1
	}
	h.level = min(h.level, 6)
	ls.open = append(ls.open, h)
	if h.depth > 0 && len(ls.numbered) < maxStyles {
		if ls.numbered == nil {
			ls.numbered = map[numberedLook]int{}
		}
		ls.numbered[key] = h.level
	}
	return h.level
}

// above reports whether l is a heading within the part that h starts.
func (h openHeading) above(l openHeading) bool {
	if h.depth > 0 && l.depth > 0 {
		return h.depth < l.depth
	}
	switch {
	case abs(h.size-l.size) > 0.04*max(h.size, l.size):
		return h.size > l.size
	case h.bold != l.bold:
		return h.bold
	case h.caps != l.caps:
		return h.caps
	case h.italic != l.italic:
		return !h.italic
	}
	return false
}

// depthOf returns the depth of a heading's number, for example 2 for "3.1 Scope", or zero.
func depthOf(text string) int {
	m := numbered.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return 1 + strings.Count(strings.TrimSuffix(m[2], "."), ".")
}
