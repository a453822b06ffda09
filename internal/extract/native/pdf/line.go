package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// line is the segments of one line within a column.
type line struct {
	box
	segments []segment // from left to right
	all      []word    // of the segments, from left to right; nil: they were not collected yet
	look
}

// look is the typography of one or more lines, by character.
type look struct {
	size   float64 // points, of most characters
	bold   bool    // nearly all of it
	italic bool
	mono   bool
	math   bool   // a good part of it is formula characters
	face   string // family of the font of nearly all of it; empty: there are several, or it is unknown
}

// rows groups segments into lines by their vertical position, from top to bottom.
func rows(segs []segment) []line {
	out := linesIn(segs)
	for i := range out {
		out[i].collect()
	}
	return out
}

// linesIn is rows without what collect sets.
func linesIn(segs []segment) []line {
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.centerY(), b.centerY()) })
	var out []line
	for _, s := range segs {
		if n := len(out); n > 0 && out[n-1].takes(s) {
			out[n-1].segments = append(out[n-1].segments, s)
			out[n-1].box = out[n-1].union(s.box)
			continue
		}
		out = append(out, line{box: s.box, segments: []segment{s}})
	}
	for i := range out {
		if len(out[i].segments) > 1 {
			slices.SortStableFunc(out[i].segments, func(a, b segment) int { return cmp.Compare(a.left, b.left) })
		}
	}
	return out
}

// collect sets what is known of a line once it is complete.
func (l *line) collect() {
	l.all = l.words()
	l.look = lookOf(l.all)
}

// takes reports whether s belongs to l: beside its first segment, or slightly raised or lowered.
func (l line) takes(s segment) bool { return beside(l.segments[0].box, s.box) }

// beside reports whether two boxes are on one line, or slightly raised or lowered.
func beside(a, b box) bool {
	return a.sameLine(b) && abs(b.centerY()-a.centerY()) < 0.45*max(b.height(), a.height())
}

// words returns the words of a line, which must not be changed.
func (l line) words() []word {
	switch {
	case l.all != nil:
		return l.all
	case len(l.segments) == 1:
		return l.segments[0].words
	}
	n := 0
	for _, s := range l.segments {
		n += len(s.words)
	}
	out := make([]word, 0, n)
	for _, s := range l.segments {
		out = append(out, s.words...)
	}
	slices.SortStableFunc(out, byLeft) // raised numbers are segments among another's words
	return out
}

// text returns the line's words separated by spaces.
func (l line) text() string { return joinWords(l.words()) }

// joinWords joins words side by side. Words that touch are parts of one word in several sizes, as in small
// capitals; a raised number is kept separate.
func joinWords(words []word) string {
	var b strings.Builder
	words = inReadingOrder(withoutLeaders(words))
	for i, w := range words {
		if i > 0 && b.Len() > 0 && !touches(words[i-1], w) {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// withoutLeaders drops dot leaders.
func withoutLeaders(words []word) []word {
	if !hasLeader(words) {
		return words
	}
	out := make([]word, 0, len(words))
	for start := 0; start < len(words); {
		end, dots := start, 0
		for end < len(words) && onlyDots(words[end].text) {
			dots += len(strings.Fields(words[end].text))
			end++
		}
		if dots < 3 && !(end > start && len(words[start].text) > 3) {
			end = max(end, start+1)
			out = append(out, words[start:end]...)
		}
		start = end
	}
	return out
}

// hasLeader reports whether there is a dot leader: three words of dots, or one long one.
func hasLeader(words []word) bool {
	n := 0
	for _, w := range words {
		if !onlyDots(w.text) {
			n = 0
			continue
		}
		if n += len(strings.Fields(w.text)); n >= 3 || len(w.text) > 3 {
			return true
		}
	}
	return false
}

// onlyDots reports whether a word is dots, which may have narrow spaces between them.
func onlyDots(s string) bool {
	return s != "" && (s[0] == '.' || s[0] >= utf8.RuneSelf) && strings.Trim(s, ".…· ") == ""
}

// touches reports whether two words side by side are parts of one: poppler parts a word where its font or its size
// changes.
func touches(a, b word) bool {
	gap, em := b.left-a.right, max(a.em(), b.em())
	last, _ := utf8.DecodeLastRuneInString(a.text)
	first, _ := utf8.DecodeRuneInString(b.text)
	if b.tight || wideScript(last) && wideScript(first) || gap < 0.08*em && withoutSpace(last, first) ||
		gap < 0.15*em && last >= '0' && last <= '9' && endsNumber(a, b) {
		return true
	}
	if gap > 0.05*em || gap < -0.3*a.em() {
		return false
	}
	return isUpper(a.text) && isUpper(b.text) ||
		gap > -0.05*em && (strings.ContainsRune(",.;:)]}%!?»”’®™℠", first) || strings.ContainsRune("([{«“‘", last)) ||
		abs(gap) < 0.015*em && isInitial(a, b)
}

// numberEnding matches what is raised after the digits of an ordinal number in English or French.
var numberEnding = pattern.New(`^(?:st|nd|rd|th|er|re|ère|[eè]me)[.,;:)]*$`)

// endsNumber reports whether b is the raised ending of the number a.
func endsNumber(a, b word) bool {
	return b.em() < 0.9*a.em() && b.bottom < a.bottom && numberEnding.MatchString(b.text)
}

// isInitial reports whether a is a word's capital and b the rest of it, in another font or slightly smaller: it is no
// variable with an index. Two words of one style stay two, since poppler parts these only at a space.
func isInitial(a, b word) bool {
	first, n := utf8.DecodeRuneInString(a.text)
	next, _ := utf8.DecodeRuneInString(b.text)
	return n == len(a.text) && unicode.IsUpper(first) && unicode.IsLower(next) && letters(b.text) > 1 &&
		!a.math && !b.math && a.style != b.style && b.em() > 0.72*a.em()
}

func isUpper(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLower(r) || unicode.IsDigit(r) {
			return false
		}
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n > 0
}

// sized is how much text has a font size.
type sized struct {
	size float64
	n    int
}

// lookOf returns the typography of most characters of the words.
func lookOf(words []word) look {
	var total, bold, italic, mono, math, first int
	face := faceIn(words)
	sizes := make([]sized, 0, 8) // on the stack: few words differ
	size := 0.0                  // of the word before
	for i := range words {
		w := &words[i]
		n := len(w.text)
		total += n
		if em := w.em(); i == 0 || em >= size || !isUpper(w.text) || !touches(words[i-1], *w) {
			size = em
		} // else small capitals, which are as large as the capital before them
		at := slices.IndexFunc(sizes, func(s sized) bool { return s.size == size })
		if at < 0 {
			at = len(sizes)
			sizes = append(sizes, sized{size: size})
		}
		sizes[at].n += n
		bold += n * one(w.bold)
		italic += n * one(w.italic)
		mono += n * one(w.mono)
		math += n * one(w.math)
		first += n * one(w.face == face)
	}
	var l look
	most := 0
	for _, s := range sizes {
		if s.n > most || s.n == most && s.size > l.size {
			l.size, most = s.size, s.n
		}
	}
	l.bold, l.italic, l.mono = bold*10 >= total*8, italic*10 >= total*8, mono*10 >= total*8
	l.math = math*10 >= total*3
	if first*10 >= total*8 {
		l.face = face
	}
	return l
}

// faceIn returns the family of the first word's font that has letters and is no formula's.
func faceIn(words []word) string {
	for _, w := range words {
		if w.face != "" && !w.math && letters(w.text) > 0 {
			return w.face
		}
	}
	return ""
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
