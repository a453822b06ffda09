package pdf

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Reading is the lines of a page as they were read from its image, in reading order. The page may be turned by 90°.
type Reading struct {
	Lines []Line
	Skew  float64 // degrees by which the page must be rotated clockwise for its lines to be straight
}

// Line is words with their boxes, in reading order.
type Line []Word

// Layout lays out pages that were read from images as those of a PDF file: with headings, lists and tables, and
// without running heads.
type Layout struct{ document *document }

// NewLayout returns a layout of a document of so many pages, which emits its blocks.
func NewLayout(pages int, emit extract.Emit) *Layout { return &Layout{newDocument(pages, emit)} }

// Add adds the next page. Its size may be in any unit.
func (l *Layout) Add(ctx context.Context, number int, width, height float64, r Reading) error {
	p := &page{number: number, width: width, height: height}
	p.read(r)
	return l.document.add(ctx, p)
}

// Put adds blocks in the place of the next page. No paragraph continues across them.
func (l *Layout) Put(ctx context.Context, number int, blocks []extract.Block) error {
	return l.document.add(ctx, &page{number: number, answer: Answer{Blocks: blocks}})
}

// Flush emits what is left.
func (l *Layout) Flush(ctx context.Context) error { return l.document.flush(ctx) }

// readWord is a word on the upright page, in points.
type readWord struct {
	box

	text string
}

// read replaces what is on the page by what was read from its image.
func (p *page) read(r Reading) {
	if p.turned == fromUpwards || p.turned == fromDownwards {
		p.width, p.height = p.height, p.width
	}
	p.words, p.rules, p.fills, p.dots = nil, nil, nil, nil
	p.fromImage, p.mirrored = true, false
	p.turned, p.skew = r.rotation(p.width, p.height), r.Skew
	lines := make([][]readWord, len(r.Lines))
	sizes := make([]float64, len(lines))
	for i, l := range r.Lines {
		for _, w := range l {
			b := box{w.Box.Left * p.width, w.Box.Top * p.height, w.Box.Right * p.width, w.Box.Bottom * p.height}
			if text := normalize(w.Text); text != "" {
				x, y := tilted(b.centerX(), b.centerY(), p.width, p.height, p.skew)
				b = box{x - b.width()/2, y - b.height()/2, x + b.width()/2, y + b.height()/2}
				lines[i] = append(lines[i], readWord{b.rotatedBy(p.turned, p.width, p.height), text})
			}
		}
		sizes[i] = sizeOf(lines[i])
	}
	if p.turned == fromUpwards || p.turned == fromDownwards {
		p.width, p.height = p.height, p.width
	}
	usual := median(slices.DeleteFunc(slices.Clone(sizes), func(v float64) bool { return v <= 0 }))
	for i, l := range lines {
		if size := sizes[i]; size <= 0 || size < nearUsual*usual && size > usual/nearUsual {
			sizes[i] = usual // it is measured by letters, and letters differ
		}
		p.addLine(l, sizes[i])
	}
	p.mirror()
}

// rotation returns how the page is to be rotated, from the way that its lines run.
func (r Reading) rotation(width, height float64) rotation {
	var across, down, rtl, all float64
	for _, l := range r.Lines {
		for i, w := range l {
			all++
			rtl += float64(one(hasRightToLeft(w.Text)))
			if i > 0 {
				a, b := l[i-1].Box, w.Box
				across += (b.Left + b.Right - a.Left - a.Right) * width
				down += (b.Top + b.Bottom - a.Top - a.Bottom) * height
			}
		}
	}
	if 2*rtl > all {
		across = -across
	}
	switch {
	case -down > abs(across):
		return fromUpwards
	case down > abs(across):
		return fromDownwards
	case across < 0:
		return fromUpsideDown
	}
	return upright
}

// nearUsual is how much larger than usual, or smaller, a line's letters may seem and be as large.
const nearUsual = 1.22

// addLine adds the words of a line. Like poppler, it begins another segment at a gap that may be that of columns, and
// gives words the room that a font has above and below its letters.
func (p *page) addLine(l []readWord, size float64) {
	const high = 0.6 // half a word's box
	middles := make([]float64, len(l))
	for i, w := range l {
		middles[i] = w.centerY()
	}
	line := median(middles)
	segment := 1
	if n := len(p.words); n > 0 {
		segment = p.words[n-1].segment + 1
	}
	for i, w := range l {
		if len(p.words) >= maxWords {
			return
		}
		if i > 0 && max(w.left-l[i-1].right, l[i-1].left-w.right) > 1.5*size {
			segment++
		}
		middle := line
		if abs(w.centerY()-line) > 0.5*size { // a slanted line, or words of two lines
			middle = w.centerY()
		}
		p.words = append(p.words, word{
			box: box{w.left, middle - high*size, w.right, middle + high*size}, style: style{size: size}, text: w.text,
			segment: segment, order: len(p.words), rtl: hasRightToLeft(w.text),
		})
	}
}

// sizeOf returns the font size of a line from the heights of its words: which letters have ascenders and descenders
// is known.
func sizeOf(l []readWord) float64 {
	var all []float64
	for _, w := range l {
		if share := inkHeight(w.text); share > 0 {
			all = append(all, w.height()/share)
		}
	}
	return median(all)
}

// inkHeight returns the height of a word's letters as a part of the font size, or zero for punctuation.
func inkHeight(s string) float64 {
	const xHeight, ascender, descender = 0.5, 0.22, 0.21
	known, up, down := false, false, false
	for _, r := range s {
		switch {
		case unicode.IsUpper(r), unicode.IsDigit(r), strings.ContainsRune("bdfhklißtäöüéèáàíóúñ", r):
			known, up = true, true
		case strings.ContainsRune("gpqy", r):
			known, down = true, true
		case unicode.IsLetter(r) && r < 0x250:
			known = true
		case unicode.IsLetter(r):
			known, up, down = true, true, true
		}
	}
	if !known {
		return 0
	}
	return xHeight + ascender*float64(one(up)) + descender*float64(one(down))
}
