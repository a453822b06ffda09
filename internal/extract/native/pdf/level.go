package pdf

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/section"
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
	return x.levels[outlineKey(section.WithoutNumber(text))]
}

// names reports whether the outline names text on the page.
func (x outlineIndex) names(text string, page int) bool {
	key := outlineKey(text)
	return key != "" && x.pages[key] == page
}

func outlineKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// levels assigns levels to headings. The outline decides for headings that it names.
type levels struct {
	outline outlineIndex
	section.Levels
}

// next returns the level of the next heading, 1-6.
func (ls *levels) next(l look, text string) int {
	return ls.Next(section.Look{Size: l.size, Bold: l.bold, Italic: l.italic}, text, ls.outline.level(text))
}
