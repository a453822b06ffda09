package pdf

import (
	"cmp"
	"math"
)

// stats describes the document's running text as far as it was read.
type stats struct {
	sizes   map[float64]int   // characters by font size in half points
	weights map[int]int       // characters by the font's weight
	faces   map[string]int    // characters by the font's family
	headed  map[look]bool     // the looks of headings so far
	texts   map[float64]int   // characters in long lines, by font size in half points
	pitches map[string]*pitch // by the font's family

	total, bold, italic, mono int
	sized, long               int // characters in a known size, and in long lines
}

const maxStyles = 1000

func newStats() *stats {
	return &stats{
		sizes: map[float64]int{}, weights: map[int]int{}, faces: map[string]int{}, headed: map[look]bool{},
		texts: map[float64]int{}, pitches: map[string]*pitch{},
	}
}

// add counts the words of a page, and makes those bold that are so beside the others.
func (s *stats) add(p *page) {
	s.addPitches(p)
	for _, w := range p.words {
		if isBox(w) {
			continue // of a form, in the size of its label
		}
		n := len(w.text)
		count(s.sizes, math.Round(w.em()*2)/2, n)
		count(s.weights, w.weight, n)
		count(s.faces, w.face, n)
		s.total += n
		s.italic += n * one(w.italic)
		s.mono += n * one(w.mono)
		s.sized += n * one(w.size > 0)
	}
	s.addTexts(p.words)
	s.embolden(p)
	for _, w := range p.words {
		s.bold += len(w.text) * one(w.bold)
	}
}

// Lines that are long enough to be those of running text: in words, and in font sizes for scripts without spaces.
const (
	longWords = 8
	longLine  = 25.0
)

// addTexts counts the sizes of long lines.
func (s *stats) addTexts(words []word) {
	for start := 0; start < len(words); {
		end, n, line := start, 0, box{}
		for end < len(words) && words[end].segment == words[start].segment {
			line, n = line.union(words[end].box), n+len(words[end].text)
			end++
		}
		if em := words[start].em(); !words[start].bold && (end-start >= longWords || line.width() > longLine*em) {
			count(s.texts, math.Round(em*2)/2, n)
			s.long += n
		}
		start = end
	}
}

// isText reports whether a good part of the document's running text is as large as a piece that is not bold. A form has
// its answers in another size than its labels, and a report its summaries. An invoice may have most of its text, in short
// lines, a bit larger than its small print.
func (s *stats) isText(p *piece) bool {
	const (
		least      = 200 // characters
		ofLong     = 0.1 // of all in long lines
		ofAll, bit = 0.2, 1.3
	)
	size := math.Round(p.size*2) / 2
	n, all := s.texts[size], s.sizes[size]
	return !p.bold && (n >= least && float64(n) > ofLong*float64(s.long) ||
		all >= least && float64(all) > ofAll*float64(s.total) && p.size < bit*s.body())
}

func count[K comparable](counts map[K]int, key K, n int) {
	if len(counts) < maxStyles || counts[key] > 0 {
		counts[key] += n
	}
}

// most returns the key with the highest count, the lowest of several, and its count.
func most[K cmp.Ordered](counts map[K]int) (key K, top int) {
	for k, n := range counts {
		if n > top || n == top && k < key {
			key, top = k, n
		}
	}
	return key, top
}

// body returns the size of most of the text in points, or 10 before anything was read.
func (s *stats) body() float64 {
	size, n := most(s.sizes)
	if n == 0 {
		return 10
	}
	return size
}

// isFace reports whether a good part of the document is in fonts of a family.
func (s *stats) isFace(face string) bool {
	const share = 0.3
	return face != "" && float64(s.faces[face]) > share*float64(s.total)
}

// addHeading records the look of a heading.
func (s *stats) addHeading(l look) {
	if len(s.headed) < maxStyles {
		s.headed[l] = true
	}
}

// repeats reports whether a piece looks like an earlier heading, and unlike the running text below it.
func (s *stats) repeats(p *piece) bool {
	return s.headed[p.look] && (p.italic || !s.isFace(p.face)) && p.next != nil && len(p.next.lines) > 1 &&
		p.next.look != p.look
}

func (s *stats) mostlyBold() bool   { return s.bold*2 > s.total }
func (s *stats) mostlyItalic() bool { return s.italic*2 > s.total }
func (s *stats) mostlyMono() bool   { return s.mono*2 > s.total }
