// Package typeset breaks the text of a deck into lines and places them in their boxes, for writers that draw text
// themselves and for those that must know whether it fits.
package typeset

import (
	"unicode"

	"golang.org/x/text/width"
)

// Point is a point in EMU.
const Point = 12700

// Look is what the width of a text depends on.
type Look struct {
	Family       string
	Bold, Italic bool
	Size         float64 // in points
}

// Face measures text.
type Face interface {
	// Width returns the width of a text in points.
	Width(text string, look Look) float64
}

// Typical is a Face that needs no font: the widths of Helvetica, as Adobe's AFM files state them, which Arial and
// Liberation Sans share. So what it says of a deck is the same on every machine. Other fonts are up to a tenth wider,
// which it adds for families that are not known to be as narrow.
type Typical struct{}

// helvetica are the widths of U+0020 to U+007E in thousandths of the size.
var helvetica = [...]int{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// widths are those of fonts as a part of Helvetica's.
var widths = map[string]float64{
	"Arial": 1, "Helvetica": 1, "Liberation Sans": 1, "Calibri": 0.93, "Carlito": 0.93, "Times New Roman": 0.93,
	"Liberation Serif": 0.93, "Arial Narrow": 0.83, "Verdana": 1.18, "DejaVu Sans": 1.16, "Courier New": 1.13,
	"Liberation Mono": 1.13, "Aptos": 1.02, "Segoe UI": 1,
}

// Width implements Face.
func (Typical) Width(text string, look Look) float64 {
	total := 0
	for _, r := range text {
		total += thousandths(r)
	}
	factor, known := widths[look.Family]
	if !known {
		factor = 1.1
	}
	if look.Bold {
		factor *= 1.07
	}
	return float64(total) / 1000 * look.Size * factor
}

func thousandths(r rune) int {
	switch {
	case r >= ' ' && int(r-' ') < len(helvetica):
		return helvetica[r-' ']
	case r == '\n', r == 0x200B, unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
		return 0
	case wide(r):
		return 1000
	case unicode.IsUpper(r):
		return 700
	}
	return 560
}

// wide reports whether a character is as wide as it is high, as those of Chinese, Japanese and Korean are.
func wide(r rune) bool {
	if r < 0x1100 {
		return false
	}
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}
