package pdf

import (
	"strings"
	"unicode/utf8"
)

// The names of many fonts don't tell that all their characters are as wide as each other. Their words do.

// pitch is how wide the characters of a font are in its words so far.
type pitch struct {
	words        map[string]struct{} // those that were measured
	widths       [maxPitch]int       // how many have characters of this width, in hundredths of the font's size
	narrow, wide bool                // there were letters that are narrow elsewhere, and letters that are wide elsewhere
}

const (
	maxPitch   = 128
	pitchWords = 8   // different ones that tell, at least
	pitchMost  = 64  // that are measured
	pitchChars = 3   // of a word that tells, at least
	pitchShare = 0.9 // of the words that have one width, at least; the style of some is another's
)

// measure adds a word in ASCII.
func (m *pitch) measure(w word) {
	if _, again := m.words[w.text]; again || len(m.words) >= pitchMost {
		return
	}
	at := int(100 * w.width() / float64(len(w.text)) / w.size)
	if at < 0 || at >= maxPitch {
		return
	}
	m.words[w.text] = struct{}{}
	m.widths[at]++
	m.narrow = m.narrow || strings.ContainsAny(w.text, "ijltfI")
	m.wide = m.wide || strings.ContainsAny(w.text, "mwMWO")
}

// fixed reports whether the font is monospaced.
func (m *pitch) fixed() bool {
	if len(m.words) < pitchWords || !m.narrow || !m.wide {
		return false
	}
	most := 0
	for i := 1; i < maxPitch; i++ { // a width may be on the edge of two
		most = max(most, m.widths[i-1]+m.widths[i])
	}
	return float64(most) >= pitchShare*float64(len(m.words))
}

// addPitches measures the words of a page, and marks those in fonts that turn out to be monospaced.
func (s *stats) addPitches(p *page) {
	for _, w := range p.words {
		if w.mono || w.math || w.rtl || w.face == "" || w.size <= 0 || len(w.text) < pitchChars ||
			utf8.RuneCountInString(w.text) != len(w.text) || letters(w.text) == 0 {
			continue
		}
		m := s.pitches[w.face]
		if m == nil && len(s.pitches) < maxStyles {
			m = &pitch{words: map[string]struct{}{}}
			s.pitches[w.face] = m
		}
		if m != nil {
			m.measure(w)
		}
	}
	fixed := map[string]bool{}
	for face, m := range s.pitches {
		if m.fixed() {
			fixed[face] = true
		}
	}
	for i := range p.words {
		if len(fixed) > 0 && fixed[p.words[i].face] {
			p.words[i].mono = true
		}
	}
}
