package pdf

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// A box to tick is drawn, or a field of a form that has no text: what tells whether it is ticked would be lost, or be a letter
// of a symbol font.

const (
	maxTicks     = 1000 // boxes of a page
	mostTick     = 30   // points: a larger field may have its label within
	farFromLabel = 3.0  // font sizes between a field and its label
	signWidth    = 0.8  // of a box to tick beside its label, in font sizes
	signGap      = 0.2  // between them: both are in one cell
)

// button is a box to tick.
type button struct {
	box

	on bool
}

// fillFields puts the text of each field of a form beside its label, and a sign beside that of each box to tick, in place of what is
// written in the box. It must be called before the page is rotated.
func (p *page) fillFields(l *content.Links) {
	var all []button
	var texts []box
	if l != nil && abs(l.Width-p.width) < 1.5 && abs(l.Height-p.height) < 1.5 {
		for _, f := range l.Fields {
			if area := (box{f.Left, f.Top, f.Right, f.Bottom}); f.Button {
				all = append(all, button{area, f.On})
			} else {
				texts = append(texts, area)
			}
		}
	}
	p.fillTexts(texts)
	all = append(all, p.drawnButtons(all)...)
	p.marks = nil
	if len(all) > maxTicks {
		return
	}
	for _, b := range all {
		p.words = slices.DeleteFunc(p.words, func(w word) bool {
			mark := isTick(w) || utf8.RuneCountInString(w.text) == 1 && max(b.width(), b.height()) < mostTick
			return mark && b.has(w.centerX(), w.centerY())
		})
		p.label(b)
	}
}

// drawnButtons returns the small squares that the page draws, except fields of a form, if some have a mark in them: written, or
// drawn over most of the square. Otherwise they may be something else.
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
		on := in >= 0 || slices.ContainsFunc(p.marks, func(m box) bool {
			return b.contains(m) && max(m.width(), m.height()) > 0.4*b.width()
		})
		all, marked = append(all, button{b, on}), marked || on
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
// right of their boxes. A field may be some way from its label: the sign is where it is in the label's cell.
func (p *page) label(b button) {
	sign := word{box: b.box, text: string(unticked)}
	if b.on {
		sign.text = string(ticked)
	}
	nearest, at := 0.0, -1
	for i, w := range p.words {
		gap, before := w.left-b.right, w.centerX() < b.centerX()
		if before {
			gap = b.left - w.right
		}
		if b.centerY() < w.top || b.centerY() > w.bottom || gap < -0.3*w.em() || gap > farFromLabel*w.em() {
			continue
		}
		if gap *= 1 + float64(one(before)); at < 0 || gap < nearest {
			nearest, at = gap, i
		}
	}
	if at < 0 {
		if n := len(p.words); n > 0 {
			sign.segment, sign.order = p.words[n-1].segment+1, p.words[n-1].order
		}
		p.words = append(p.words, sign)
		return
	}
	w, before := p.words[at], p.words[at].centerX() < b.centerX()
	if sign.right = w.left - signGap*w.em(); before {
		sign.right = w.right + (signGap+signWidth)*w.em()
	}
	sign.left = sign.right - signWidth*w.em()
	sign.top, sign.bottom, sign.style, sign.segment, sign.order = w.top, w.bottom, w.style, w.segment, w.order
	sign.math, sign.mono = false, false
	p.words = slices.Insert(p.words, at+one(before), sign)
}

// fillTexts puts the text of fields behind their labels. A page is drawn before its fields; other text in the area of a field
// is the form's.
func (p *page) fillTexts(fields []box) {
	last := -1 // of the page, in the order of its content
	for _, w := range p.words {
		if len(fields) > 0 && w.order > last && !slices.ContainsFunc(fields, func(f box) bool { return f.has(w.centerX(), w.centerY()) }) {
			last = w.order
		}
	}
	// From right to left, so that what is filled in is not the label of another field.
	slices.SortFunc(fields, func(a, b box) int { return cmp.Compare(b.left, a.left) })
	for _, f := range fields {
		p.fillIn(f, last)
	}
}

// fillIn puts a field's text, if it is one line, behind the label to its left. What is apart from its label may be in another
// column. The words of fields are those after the last one of the page.
func (p *page) fillIn(field box, last int) {
	var value []word
	at, before := -1, 0 // the label's last word, and how many words of the value are before it
	in := func(w word) bool { return w.order > last && field.has(w.centerX(), w.centerY()) }
	for i, w := range p.words {
		switch {
		case in(w):
			if len(value) > 0 && !w.sameLine(value[0].box) {
				return
			}
			value = append(value, w)
		case w.order <= last && w.top < field.centerY() && w.bottom > field.centerY() && w.centerX() < field.left &&
			field.left-w.right < farFromLabel*w.em() && (at < 0 || w.right > p.words[at].right):
			at, before = i, len(value)
		}
	}
	if at < 0 || len(value) == 0 || !value[0].sameLine(p.words[at].box) {
		return
	}
	label := p.words[at]
	p.words = slices.DeleteFunc(p.words, in)
	for i := range value {
		value[i].segment, value[i].order = label.segment, label.order
	}
	p.words = slices.Insert(p.words, at-before+1, value...)
}
