package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// box is drawn for a character that no font has.
const box = '□'

// Faces are the fonts for the text of one deck: its own families or what looks like them, and for each character that
// those lack another one. It implements typeset.Face.
type Faces struct {
	library *fonts.Library
	known   map[faceKey]*fonts.Font
	lost    map[rune]bool
}

type faceKey struct {
	family       string
	bold, italic bool
}

func (f *Faces) of(look typeset.Look) *fonts.Font {
	key := faceKey{look.Family, look.Bold, look.Italic}
	if known := f.known[key]; known != nil {
		return known
	}
	found, err := f.library.Find(look.Family, look.Bold, look.Italic)
	if err != nil { // NewFaces has found one: its file is gone
		return nil
	}
	f.known[key] = found
	return found
}

// stretch is a part of a text in one font.
type stretch struct {
	font *fonts.Font
	text string
}

// stretches cuts a text by the fonts that have its characters. A space stays with what is before it.
func (f *Faces) stretches(text string, look typeset.Look) []stretch {
	var out []stretch
	own := f.of(look)
	if own == nil {
		return nil
	}
	var font *fonts.Font // of the stretch that is being made
	var letters strings.Builder
	end := func() {
		if letters.Len() > 0 {
			out = append(out, stretch{font, letters.String()})
			letters.Reset()
		}
	}
	for _, r := range text {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\t' || r == '\uFE0F' {
			continue
		}
		if unicode.IsSpace(r) {
			r = ' '
		}
		next := own
		if r == ' ' && font != nil && font.Has(' ') {
			next = font
		}
		if r > 0xFFFF || !next.Has(r) {
			next, r = f.another(r, own, look)
		}
		if next != font {
			end()
			font = next
		}
		letters.WriteRune(r)
	}
	end()
	return out
}

// another finds a font with a character, or draws a box in its place.
func (f *Faces) another(r rune, own *fonts.Font, look typeset.Look) (*fonts.Font, rune) {
	if r <= 0xFFFF { // the library writes no others
		if found := f.library.Has(r, look.Bold, look.Italic); found != nil {
			return found, r
		}
	}
	f.lost[r] = true
	if own.Has(box) {
		return own, box
	}
	if found := f.library.Has(box, look.Bold, look.Italic); found != nil {
		return found, box
	}
	return own, '?'
}

// lacks reports whether a text has a character that no font has.
func (f *Faces) lacks(text string) bool {
	if len(f.lost) == 0 {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool { return f.lost[r] }) >= 0
}

// Width implements typeset.Face.
func (f *Faces) Width(text string, look typeset.Look) float64 {
	total := 0.0
	for _, s := range f.stretches(shape(text), look) {
		for _, r := range s.text {
			total += max(s.font.Width(r), 0)
		}
	}
	return total * look.Size
}

// Missing lists the characters that no font has, at most ten.
func (f *Faces) Missing() string {
	all := slices.Sorted(maps.Keys(f.lost))
	var names []string
	for _, r := range all[:min(len(all), 10)] {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if len(all) > len(names) {
		names = append(names, fmt.Sprintf("and %d more", len(all)-len(names)))
	}
	return strings.Join(names, ", ")
}
