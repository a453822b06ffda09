package pdf

import "math"

// box is a rectangle on a page, in points from its top left.
type box struct{ left, top, right, bottom float64 }

func (b box) width() float64   { return b.right - b.left }
func (b box) height() float64  { return b.bottom - b.top }
func (b box) centerX() float64 { return (b.left + b.right) / 2 }
func (b box) centerY() float64 { return (b.top + b.bottom) / 2 }

// union returns the smallest box around both, ignoring a zero box.
func (b box) union(c box) box {
	if b == (box{}) {
		return c
	}
	return box{min(b.left, c.left), min(b.top, c.top), max(b.right, c.right), max(b.bottom, c.bottom)}
}

// sameLine reports whether two boxes are on one line: most of the lower one's height is shared.
func (b box) sameLine(c box) bool {
	shared := min(b.bottom, c.bottom) - max(b.top, c.top)
	return shared > 0.5*min(b.height(), c.height())
}

// style is the typography of a word.
type style struct {
	size   float64 // points; zero: unknown
	bold   bool
	italic bool
	mono   bool
	math   bool // in a font of formula characters

	weight int    // of the font, as its name states it; zero: unknown
	face   string // the font's family; empty: unknown
}

// word is a run of characters without a space.
type word struct {
	box
	style
	text      string
	segment   int    // poppler's line on the page
	order     int    // position in the page's content stream, from 0
	rtl       bool   // of a right-to-left script
	mirrored  bool   // its page is mirrored
	apart     bool   // it is read before the word left of it, though both read from left to right within a line that doesn't
	backwards bool   // it is in what reads from right to left on a page that is not mirrored
	invisible bool   // it is not drawn
	numbers   bool   // it is the number of a listing's line
	target    string // of the link that it is in

	tight  bool   // the gap before it is no space
	visual string // as poppler prints it, from left to right, if it is right-to-left
}

// em returns the word's font size, or an estimate of it.
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
	rules         []rule // what it draws
	fills         []box  // areas in a colour
	dots          []box  // small round shapes
	marks         []box  // other small shapes; nil once the page's fields are filled
	fromImage     bool   // its words were read from an image
	turned        rotation
	skew          float64 // of its image, see Reading
	mirrored      bool    // left and right are exchanged

	chars, garbage int     // see PageText
	layer          bool    // see PageText
	invisible      int     // see PageText
	pictures       float64 // see PageText
	answer         Answer
	known          *vocabulary // of the document
}

// sizeAs swaps the page's width and height if the runs' are swapped. For a rotated page, pdftotext prints the
// size before the rotation and the positions after it.
func (p *page) sizeAs(r *runPage) {
	near := func(a, b float64) bool { return abs(a-b) < 1.5 }
	if near(p.width, r.height) && near(p.height, r.width) && !near(p.width, p.height) {
		p.width, p.height = p.height, p.width
	}
}

// rotation is how a page's content was rotated to be upright.
type rotation int

const (
	upright rotation = iota
	fromUpwards
	fromDownwards
	fromUpsideDown
)

// straighten rotates a page whose text runs up or down, such as a wide table printed sideways, or is upside
// down.
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
		p.words[i].box = p.words[i].rotatedBy(p.turned, p.width, p.height)
	}
	for i := range p.rules {
		p.rules[i].box = p.rules[i].rotatedBy(p.turned, p.width, p.height)
	}
	for i := range p.dots {
		p.dots[i] = p.dots[i].rotatedBy(p.turned, p.width, p.height)
	}
	for i := range p.fills {
		p.fills[i] = p.fills[i].rotatedBy(p.turned, p.width, p.height)
	}
	if p.turned != fromUpsideDown {
		p.width, p.height = p.height, p.width
	}
}

// rotatedBy maps b on a page of width w and height h.
func (b box) rotatedBy(t rotation, w, h float64) box {
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

// tilted rotates a point around the middle of a page of width w and height h, clockwise.
func tilted(x, y, w, h, degrees float64) (tx, ty float64) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	x, y = x-w/2, y-h/2
	return x*cos - y*sin + w/2, x*sin + y*cos + h/2
}

// askew returns the box around a box of the straightened page, of width w and height h, on the page as it is.
func (p *page) askew(b box, w, h float64) box {
	var out box
	for _, x := range []float64{b.left, b.right} {
		for _, y := range []float64{b.top, b.bottom} {
			tx, ty := tilted(x, y, w, h, -p.skew)
			out = out.union(box{tx, ty, tx, ty})
		}
	}
	return out
}

// original maps b back to the printed page, in fractions of its size.
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
	if p.skew != 0 {
		b = p.askew(b, w, h)
	}
	unit := func(v float64) float64 { return math.Round(min(max(v, 0), 1)*1e4) / 1e4 }
	return box{unit(b.left / w), unit(b.top / h), unit(b.right / w), unit(b.bottom / h)}
}
