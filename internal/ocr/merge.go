package ocr

import (
	"iter"
	"slices"
)

// sureWord is the confidence from which a word is not replaced by another reading's.
const sureWord = 0.5

func (w Word) sure() bool { return w.Confidence >= sureWord && Letters(w.Text) > 0 }

// words yields all words.
func (p Page) words() iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for _, paragraph := range p.Paragraphs {
			for _, line := range paragraph {
				for _, w := range line {
					if !yield(w) {
						return
					}
				}
			}
		}
	}
}

// in returns the evidence of the words at a box.
func (p Page) in(b Box) float64 {
	sum := 0.0
	for w := range p.words() {
		if w.Box.meets(b) {
			sum += w.evidence()
		}
	}
	return sum
}

// With returns the page with the sure words of another reading where it has none itself. They replace doubtful words of
// less evidence.
func (p Page) With(other Page) Page {
	other = other.Without(func(w Word) bool { return !w.sure() })
	p = p.Without(func(w Word) bool { return !w.sure() && other.in(w.Box) > w.evidence() })
	other = other.Without(func(w Word) bool { return p.in(w.Box) > 0 })
	var bounds Box
	for w := range other.words() {
		bounds = around(bounds, w.Box)
	}
	below := slices.IndexFunc(p.Paragraphs, func(own Paragraph) bool { return own.Box().Top >= bounds.Bottom })
	if below < 0 {
		below = len(p.Paragraphs)
	}
	p.Paragraphs = slices.Insert(p.Paragraphs, below, other.Paragraphs...)
	return p
}

// meets reports whether a box has the middle of another one in it, or its own is in the other.
func (b Box) meets(o Box) bool { return b.holdsMiddle(o) || o.holdsMiddle(b) }

func (b Box) holdsMiddle(o Box) bool {
	x, y := (o.Left+o.Right)/2, (o.Top+o.Bottom)/2
	return x > b.Left && x < b.Right && y > b.Top && y < b.Bottom
}
