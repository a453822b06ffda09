package pdf

import (
	"slices"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// A box to tick is drawn, or a field of a form that has no text: what tells whether it is ticked would be lost, or be a letter
// of a symbol font.

const (
	maxTicks    = 500 // boxes of a page
	mostTick    = 30  // points: a larger field may have its label within
	farFromTick = 3.0 // font sizes between a box and its label
)

// button is a box to tick.
type button struct {
	box

	on bool
}

// tick puts a sign beside the label of each box to tick, in place of what is written in the box. It must be called before the
// page is rotated.
func (p *page) tick(l *content.Links) {
	var all []button
	if l != nil && abs(l.Width-p.width) < 1.5 && abs(l.Height-p.height) < 1.5 {
		for _, b := range l.Buttons {
			all = append(all, button{box{b.Left, b.Top, b.Right, b.Bottom}, b.On})
		}
	}
	all = append(all, p.drawnButtons(all)...)
	if len(all) > maxTicks {
		return
	}
	for _, b := range all {
		p.words = slices.DeleteFunc(p.words, func(w word) bool {
			return utf8.RuneCountInString(w.text) == 1 && max(b.width(), b.height()) < mostTick && b.has(w.centerX(), w.centerY())
		})
		p.label(b)
	}
}

// drawnButtons returns the small squares that the page draws, except fields of a form, if some have a mark written in them.
// Otherwise a stroke may tick them, of which nothing is known.
func (p *page) drawnButtons(fields []button) (all []button) {
	marked := false
	for _, b := range tickBoxes(p.rules) {
		if slices.ContainsFunc(fields, func(f button) bool { return f.reaches(b) }) {
			continue
		}
		in := slices.IndexFunc(p.words, func(w word) bool { return b.has(w.centerX(), w.centerY()) })
		if in >= 0 && !isTick(p.words[in]) {
			continue
		}
		all, marked = append(all, button{b, in >= 0}), marked || in >= 0
	}
	if !marked {
		return nil
	}
	return all
}

// isTick reports whether a word is a mark that ticks a box.
func isTick(w word) bool {
	switch w.text {
	case "x", "X", "×", "✓", "✔", "✕", "✖", "✗", "✘", "√":
		return true
	}
	return false
}

// label adds the sign of a button to the line of the words that are nearest to it, or as a line of its own. Most labels are to the
// right of their boxes.
func (p *page) label(b button) {
	sign := word{box: b.box, text: string(unticked), segment: -1, order: len(p.words)}
	if b.on {
		sign.text = string(ticked)
	}
	nearest, at := 0.0, -1
	for i, w := range p.words {
		gap := w.left - b.right
		if w.centerX() < b.centerX() {
			gap = 2 * (b.left - w.right)
		}
		if b.centerY() > w.top && b.centerY() < w.bottom && gap > -0.3*w.em() && gap < farFromTick*w.em() && (at < 0 || gap < nearest) {
			nearest, at = gap, i
		}
	}
	if n := len(p.words); n > 0 {
		sign.segment = p.words[n-1].segment + 1
	}
	if at < 0 {
		p.words = append(p.words, sign)
		return
	}
	w := p.words[at]
	sign.top, sign.bottom, sign.style, sign.segment, sign.order = w.top, w.bottom, w.style, w.segment, w.order
	sign.math, sign.mono = false, false
	p.words = slices.Insert(p.words, at+one(w.centerX() < b.centerX()), sign)
}
