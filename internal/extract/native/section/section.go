// Package section tells the headings of a document's sections apart where only their text and their look are known: by
// their numbers, and which of them is above which.
package section

import (
	"math"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	maxLevel = 6
	maxLooks = 10_000 // of numbered headings; real documents have a few
)

var (
	numbered = pattern.New(`^(§\s?)?((\d{1,2}(\.\d{1,2})*)\.?|[IVX]{1,5}\.|[A-Z](\.\d{1,2})+\.?)\s+\p{L}`)
	number   = pattern.New(`^[\dIVX]+(\.\d+)*\.?\s+`)
)

// Numbered reports whether a text begins as a numbered heading does: "2.1 Methods", "IV. Results", "§ 3 Scope".
func Numbered(text string) bool { return numbered.MatchString(text) }

// Depth returns the depth of a heading's number, for example 2 for "3.1 Scope", or zero.
func Depth(text string) int {
	m := numbered.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return 1 + strings.Count(strings.TrimSuffix(m[2], "."), ".")
}

// WithoutNumber returns a heading's text without its number.
func WithoutNumber(text string) string { return number.ReplaceAllString(text, "") }

// InCapitals reports whether nearly all letters of a text are capitals, of those without a section's number.
func InCapitals(text string) bool {
	upper, all := 0, 0
	for _, r := range WithoutNumber(text) {
		if unicode.IsLetter(r) {
			all++
			if unicode.IsUpper(r) {
				upper++
			}
		}
	}
	return upper > 0 && upper*10 >= all*9
}

// Look is how a heading is set.
type Look struct {
	Size   float64 // points
	Bold   bool
	Italic bool
}

// Levels assigns levels to the headings of a document, in their order. The more prominent look is higher: a heading is
// one level below the nearest preceding one that is higher. Numbers decide between numbered headings, whatever is
// between them.
type Levels struct {
	open     []heading
	numbered map[numberedLook]int // level
}

type heading struct {
	Look
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

// Next returns the level of the next heading, 1-6. named is its level if that is known, otherwise zero.
func (ls *Levels) Next(l Look, text string, named int) int {
	h := heading{Look: l, caps: InCapitals(text), depth: Depth(text)}
	key := numberedLook{h.depth, h.Size, h.Bold}
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
	h.level = min(h.level, maxLevel)
	ls.open = append(ls.open, h)
	if h.depth > 0 && len(ls.numbered) < maxLooks {
		if ls.numbered == nil {
			ls.numbered = map[numberedLook]int{}
		}
		ls.numbered[key] = h.level
	}
	return h.level
}

// above reports whether l is a heading within the part that h starts.
func (h heading) above(l heading) bool {
	if h.depth > 0 && l.depth > 0 {
		return h.depth < l.depth
	}
	switch {
	case math.Abs(h.Size-l.Size) > 0.04*max(h.Size, l.Size):
		return h.Size > l.Size
	case h.Bold != l.Bold:
		return h.Bold
	case h.caps != l.caps:
		return h.caps
	case h.Italic != l.Italic:
		return !h.Italic
	}
	return false
}
