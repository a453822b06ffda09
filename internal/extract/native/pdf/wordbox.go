package pdf

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Fonts may claim that their characters are far higher than they are, as those of Chinese do. Then the boxes
// of lines overlap, and nothing that asks for the distance of lines holds.

const (
	highBox    = 1.6 // of the font's size: higher boxes are examined
	usualBox   = 1.36
	sureLength = 4.0 // widths of a wide character: longer words are surely not turned
)

// trim gives the words of such fonts the usual height around their middle. A word that runs up or down has a high
// box, too; but that is as high as its text is long, and its width is the font's height. high are the heights of
// such fonts in the document so far, in font sizes; trim adds those that it finds.
func (p *page) trim(high map[float64]bool) {
	ratio := func(w word) float64 { return math.Round(w.height()/w.size*20) / 20 }
	const most = 100
	for _, w := range p.words {
		if w.size <= 0 || w.height() < highBox*w.size || !isWide(w.text) {
			continue
		}
		length := lengthOf(w.text)
		if length >= sureLength && abs(w.width()-length*w.size) < 0.2*w.width() && w.height() < 0.8*length*w.size &&
			len(high) < most {
			high[ratio(w)] = true
		}
	}
	if len(high) == 0 {
		return
	}
	for i := range p.words {
		w := &p.words[i]
		if w.size > 0 && w.height() >= highBox*w.size && high[ratio(*w)] && isWide(w.text) {
			middle := w.centerY()
			w.top, w.bottom = middle-usualBox/2*w.size, middle+usualBox/2*w.size
		}
	}
}

// isWide reports whether a text is Chinese, Japanese or the like.
func isWide(s string) bool { return strings.ContainsFunc(s, wideScript) }

// lengthOf returns about how long a text is, in font sizes.
func lengthOf(s string) float64 {
	length := 0.0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			length += 0.5
		case wideScript(r):
			length++
		default:
			length += 0.55
		}
	}
	return length
}
