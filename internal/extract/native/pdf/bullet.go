package pdf

import (
	"cmp"
	"slices"
)

// Browsers draw the bullets of lists as shapes, so no word tells that a line is an item.

const (
	mostDots = 2000 // of a page; more are a chart's
	leastDot = 0.2  // of the font's size
	mostDot  = 0.75
	mostGap  = 2.5 // between a bullet and its item, in font sizes
)

// drawnBullets puts a bullet before each segment that has a small round or square shape to its left, and nothing
// else nearby.
func (p *page) drawnBullets(segs []segment) {
	dots := slices.Clone(p.dots)
	for _, f := range p.fills {
		if abs(f.width()-f.height()) < 0.1*f.width() {
			dots = append(dots, f)
		}
	}
	if len(dots) == 0 || len(dots) > mostDots {
		return
	}
	slices.SortFunc(dots, func(a, b box) int { return cmp.Compare(a.centerY(), b.centerY()) })
	bullets := make([]word, len(segs)) // with a text where there is one
	for i, s := range segs {
		if len(s.words) == 1 && letters(s.words[0].text) < 2 || isBullet(s.words[0]) {
			continue // the label of a point
		}
		if d, ok := bulletOf(s, dots); ok {
			bullets[i] = word{box: box{d.left, s.top, d.right, s.bottom}, style: s.words[0].style, text: "•"}
			bullets[i].segment, bullets[i].order, bullets[i].mirrored = s.words[0].segment, s.order, s.words[0].mirrored
		}
	}
	looks := &effort{maxEffort}
	for i, b := range bullets {
		if b.text == "" || !looks.spend(len(segs)) || slices.ContainsFunc(segs, func(o segment) bool { // text before the shape
			return o.right <= b.right+1 && b.left-o.right < mostGap*b.em() && o.sameLine(segs[i].box)
		}) {
			continue
		}
		segs[i] = newSegment(append([]word{b}, segs[i].words...))
	}
}

// bulletOf returns the shape that is the bullet of a segment. dots are sorted by their middles.
func bulletOf(s segment, dots []box) (found box, ok bool) {
	em := s.size
	from, _ := slices.BinarySearchFunc(dots, s.centerY()-0.5*em, func(d box, y float64) int {
		return cmp.Compare(d.centerY(), y)
	})
	for _, d := range dots[from:] {
		if d.centerY() > s.centerY()+0.5*em {
			break
		}
		gap := s.left - d.right
		if d.width() < leastDot*em || d.width() > mostDot*em || gap < 0.1*em || gap > mostGap*em {
			continue
		}
		if ok && abs(found.left-d.left) > 1 { // a ring is two circles; others are no bullets
			return box{}, false
		}
		found, ok = d, true
	}
	return found, ok
}

// separatedBy reports whether a piece is a list whose items have a mark between them, as keywords have: at the start of the
// next line it is no bullet.
func (p *piece) separatedBy(mark string) bool {
	if mark != "·" && mark != "•" && mark != "∙" || p.marker != "" {
		return false
	}
	words := p.lines[len(p.lines)-1].words()
	return slices.ContainsFunc(words[1:], func(w word) bool { return w.text == mark })
}

// itemWords returns the words of a list item without its marker.
func (p *piece) itemWords(words []word) []word {
	if p.marker == bulletMarker && isBox(words[0]) {
		return words
	}
	return words[1:]
}
