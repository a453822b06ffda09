package pdf

import "math"

// box is a place on a page in points from its top left.
type box struct{ left, top, right, bottom float64 }

func (b box) width() float64   { return b.right - b.left }
func (b box) height() float64  { return b.bottom - b.top }
func (b box) centerX() float64 { return (b.left + b.right) / 2 }
func (b box) centerY() float64 { return (b.top + b.bottom) / 2 }

// union is the smallest box around both; the zero box counts as nothing.
func (b box) union(c box) box {
	if b == (box{}) {
		return c
	}
	return box{min(b.left, c.left), min(b.top, c.top), max(b.right, c.right), max(b.bottom, c.bottom)}
}

// sameLine reports whether two boxes stand on one line: most of the lower one's height is shared.
func (b box) sameLine(c box) bool {
	shared := min(b.bottom, c.bottom) - max(b.top, c.top)
	return shared > 0.5*min(b.height(), c.height())
}

// style is how a word is set.
type style struct {
	size   float64 // points; zero: unknown
	bold   bool
	italic bool
	mono   bool
	math   bool // set in a font of formula characters
}

// word is a run of characters without a space.
type word struct {
	box
	style
	text      string
	segment   int  // poppler's line on the page
	order     int  // place in the page's content stream, from 0
	rtl       bool // it is of a script that runs from right to left
	mirrored  bool // its page is
	invisible bool // it is not drawn
}

// em is the word's font size, or an estimate of it.
func (w word) em() float64 {
	if w.size > 0 {
		return w.size
	}
	return w.height() / 1.2
}

// page is one page as poppler reads it.
type page struct {
	number        int // from 1
	width, height float64
	words         []word
	turned        turn
	mirrored      bool // left and right are exchanged

	chars, garbage int  // see PageText
	layer          bool // see PageText
	invisible      int  // see PageText
	answer         Answer
}

// sizeAs exchanges the page's width and height when the runs' are: of a page that is shown turned,
// pdftotext prints the size before it is turned, and the places of the words after it.
func (p *page) sizeAs(r *runPage) {
	near := func(a, b float64) bool { return abs(a-b) < 1.5 }
	if near(p.width, r.height) && near(p.height, r.width) && !near(p.width, p.height) {
		p.width, p.height = p.height, p.width
	}
}

// turn is how a page's content was turned to stand upright.
type turn int

const (
	upright turn = iota
	fromUpwards
	fromDownwards
	fromUpsideDown
)

// straighten turns a page whose text runs up or down, such as a wide table printed on its side, or stands
// on its head.
func (p *page) straighten() {
	var tall, up, down, forth, back int
	for i, w := range p.words {
		if i > 0 && p.words[i-1].segment == w.segment && !w.rtl && w.sameLine(p.words[i-1].box) {
			forth += one(w.left > p.words[i-1].left)
			back += one(w.left < p.words[i-1].left)
		}
		if len([]rune(w.text)) < 3 || w.height() < 1.5*w.width() {
			continue
		}
		tall++
		if i > 0 && p.words[i-1].segment == w.segment {
			if w.top < p.words[i-1].top {
				up++
			} else {
				down++
			}
		}
	}
	switch {
	case tall > 0 && tall*10 >= 3*len(p.words) && up+down > 0:
		p.turned = fromDownwards
		if up > down {
			p.turned = fromUpwards
		}
	case back > 4*forth && back*2 > len(p.words):
		p.turned = fromUpsideDown
	default:
		return
	}
	for i := range p.words {
		p.words[i].box = p.words[i].turnedBy(p.turned, p.width, p.height)
	}
	if p.turned != fromUpsideDown {
		p.width, p.height = p.height, p.width
	}
}

// turnedBy maps b of a page of width w and height h.
func (b box) turnedBy(t turn, w, h float64) box {
	switch t {
	case fromUpwards: // the reader tilts the head to the left
		return box{h - b.bottom, b.left, h - b.top, b.right}
	case fromDownwards:
		return box{b.top, w - b.right, b.bottom, w - b.left}
	case fromUpsideDown:
		return box{w - b.right, h - b.bottom, w - b.left, h - b.top}
	default:
		return b
	}
}

// original maps b back to the page as it is printed, in fractions of its size.
func (p *page) original(b box) box {
	w, h := p.width, p.height
	if p.mirrored {
		b.left, b.right = w-b.right, w-b.left
	}
	switch p.turned {
	case fromUpwards:
		b = box{b.top, w - b.right, b.bottom, w - b.left}
		w, h = h, w
	case fromDownwards:
		b = box{h - b.bottom, b.left, h - b.top, b.right}
		w, h = h, w
	case fromUpsideDown:
		b = box{w - b.right, h - b.bottom, w - b.left, h - b.top}
	}
	if w <= 0 || h <= 0 {
		return box{}
	}
	unit := func(v float64) float64 { return math.Round(min(max(v, 0), 1)*1e4) / 1e4 }
	return box{unit(b.left / w), unit(b.top / h), unit(b.right / w), unit(b.bottom / h)}
}
