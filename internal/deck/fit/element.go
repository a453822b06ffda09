package fit

import (
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// element makes an element fit. more is what goes to the next slide; nil: nothing.
func (f *fitter) element(layout *deck.Layout, e deck.Element) (fitted deck.Element, more *deck.Element) {
	switch {
	case e.Table != nil:
		return f.table(layout, e)
	case e.Text != nil && !e.Text.NoWrap:
		return f.text(layout, e)
	}
	return e, nil
}

// room is how wide and how high the text of an element may be, in points.
func (f *fitter) room(layout *deck.Layout, e *deck.Element) (width, height float64, ok bool) {
	box := layout.Place(e)
	if box == nil {
		return 0, 0, false
	}
	in := deck.DefaultInset
	if e.Text.Inset != nil {
		in = *e.Text.Inset
	}
	width = float64(box.W-in.Left-in.Right) / typeset.Point
	height = float64(box.H-in.Top-in.Bottom) / typeset.Point
	// A person's slide is as it is: its text may be higher than its box, up to the edge of the slide.
	if f.laid && e.Text.Anchor != deck.AnchorBottom && e.Text.Anchor != deck.AnchorMiddle {
		height = max(height, float64(f.deck.Size.Height-box.Y-in.Top-in.Bottom)/typeset.Point)
	}
	return width, height, width > 0
}

func (f *fitter) text(layout *deck.Layout, e deck.Element) (deck.Element, *deck.Element) {
	width, height, ok := f.room(layout, &e)
	if !ok {
		return e, nil
	}
	start := e.Text.Scale
	if start == 0 {
		start = 1
	}
	divisible := e.Role == deck.BodyRole || e.Role == "" && e.Kind == deck.TextElement && e.Shape == nil
	least := leastTitle
	switch {
	case divisible && !f.laid:
		least = leastBody
	case divisible:
		least = leastOther
	}
	letters := capacity(width, height)
	long := divisible && lettersOf(e.Text) > letters
	if !long {
		if text, fits := f.shrunk(layout, &e, start, min(least, start), width, height); fits {
			e.Text = text
			return e, nil
		}
	}
	if !divisible {
		e.Text, _ = f.shrunk(layout, &e, leastTitle, leastTitle, width, height)
		return e, nil
	}
	return f.divide(layout, e, width, height)
}

// shrunk returns the text at the largest scale at which it fits, and whether there is one.
func (f *fitter) shrunk(layout *deck.Layout, e *deck.Element, from, least, width, height float64) (*deck.Text, bool) {
	for n := 0; ; n++ {
		text := *e.Text
		scale := max(from-step*float64(n), least)
		if text.Scale = scale; scale >= 1 {
			text.Scale = 0
		}
		if f.set.Text(layout, e, &text, width).Height <= height+0.5 {
			return &text, true
		}
		if scale <= least {
			return &text, false
		}
	}
}

// divide cuts a text where its box is full: between paragraphs, or else between lines.
func (f *fitter) divide(layout *deck.Layout, e deck.Element, width, height float64) (deck.Element, *deck.Element) {
	const comfortable = 0.9
	text := *e.Text
	text.Scale = comfortable
	if f.laid {
		text.Scale = leastOther
	}
	block := f.set.Text(layout, &e, beginning(&text, capacity(width, height)), width)
	fit := 0 // lines that fit
	for fit < len(block.Lines) && block.Lines[fit].Y+block.Lines[fit].Height <= height+0.5 {
		fit++
	}
	if fit == 0 || fit == len(block.Lines) { // a line is higher than the box
		e.Text, _ = f.shrunk(layout, &e, leastTitle, leastTitle, width, height)
		return e, nil
	}
	cut := block.Lines[fit].Paragraph
	begins, torn := fit == 0 || block.Lines[fit-1].Paragraph != cut, false // torn: the cut is within a paragraph
	head, tail := text, text
	if begins {
		head.Paragraphs, tail.Paragraphs = text.Paragraphs[:cut], text.Paragraphs[cut:]
	} else {
		// A paragraph of three lines or fewer is not torn apart, if there is another one above.
		lines, first := linesOf(block, cut)
		if cut > 0 && (lines <= 3 || fit-first < 2) {
			head.Paragraphs, tail.Paragraphs = text.Paragraphs[:cut], text.Paragraphs[cut:]
		} else {
			torn = true
			before, after := tear(text.Paragraphs[cut], block.Lines[first:fit])
			head.Paragraphs = append(append([]deck.Paragraph(nil), text.Paragraphs[:cut]...), before)
			tail.Paragraphs = append([]deck.Paragraph{after}, text.Paragraphs[cut+1:]...)
		}
	}
	tail.Scale = 0
	more := e
	e.Text, more.Text = &head, &tail
	continueNumbers(&head, &tail, torn)
	return e, &more
}

// capacity is more letters than fit into a room in points, in any size that text may have: what is longer is divided
// without measuring all of it, or a long text would be measured once for each slide that it becomes.
func capacity(width, height float64) int {
	const smallest = 8.0 // points; a letter is about half as wide as it is high
	return int(width*height/(smallest*smallest*0.5)) + 500
}

func lettersOf(t *deck.Text) (n int) {
	for _, p := range t.Paragraphs {
		for _, r := range p.Runs {
			n += len(r.Text)
		}
	}
	return n
}

// beginning is the first paragraphs of a text, and of the last of them the first runs, with at least so many bytes.
func beginning(t *deck.Text, bytes int) *deck.Text {
	out := *t
	for i, p := range t.Paragraphs {
		for k, r := range p.Runs {
			if bytes -= len(r.Text); bytes >= 0 {
				continue
			}
			at := len(r.Text) + bytes
			for at < len(r.Text) && !utf8.RuneStart(r.Text[at]) {
				at++
			}
			last := p
			last.Runs = append([]deck.Run(nil), p.Runs[:k+1]...)
			last.Runs[k].Text = r.Text[:at]
			out.Paragraphs = append(append([]deck.Paragraph(nil), t.Paragraphs[:i]...), last)
			return &out
		}
	}
	return &out
}

// linesOf counts the lines of a paragraph, and finds its first.
func linesOf(b typeset.Block, paragraph int) (count, first int) {
	first = -1
	for i, l := range b.Lines {
		if l.Paragraph == paragraph {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	return count, first
}

// tear cuts a paragraph behind some of its lines.
func tear(p deck.Paragraph, lines []typeset.Line) (before, after deck.Paragraph) {
	taken := make([]int, len(p.Runs)) // bytes of each run
	for _, l := range lines {
		for _, piece := range l.Pieces {
			taken[piece.Run] += piece.Raw
		}
	}
	last := 0
	for i, n := range taken {
		if n > 0 {
			last = i
		}
	}
	before, after = p, p
	before.Runs, after.Runs = nil, nil
	for i, r := range p.Runs {
		head, tail := r, r
		switch {
		case i < last:
			before.Runs = append(before.Runs, r)
			continue
		case i > last:
			after.Runs = append(after.Runs, r)
			continue
		}
		at := min(taken[i], len(r.Text))
		head.Text, tail.Text = strings.TrimRight(r.Text[:at], " \n"), r.Text[at:]
		before.Runs = append(before.Runs, head)
		if tail.Text != "" {
			after.Runs = append(after.Runs, tail)
		}
	}
	if after.List != nil || after.Level > 0 {
		after.List = &deck.List{Kind: deck.NoList} // its item began before
	}
	return before, after
}

// continueNumbers lets numbered lists go on where the part before ends. torn: the tail begins within a paragraph.
func continueNumbers(head, tail *deck.Text, torn bool) {
	var counter typeset.Counter
	for _, p := range head.Paragraphs {
		counter.Next(p.List, p.Level)
	}
	starts := map[int]int{} // by level: the first number in the tail of a list of the head; 0: none yet
	for level := range counter {
		if counter.Count(level) > 0 {
			starts[level] = 0
		}
	}
	if len(tail.Paragraphs) == 0 || len(starts) == 0 { // a copy of the rest for each slide takes the square of its length
		return
	}
	tail.Paragraphs = append([]deck.Paragraph(nil), tail.Paragraphs...)
	for i := range tail.Paragraphs {
		if torn && i == 0 { // it has no marker, but is the last item of the head: its list goes on
			continue
		}
		p := &tail.Paragraphs[i]
		last := counter.Count(p.Level)
		counter.Next(p.List, p.Level)
		n := counter.Count(p.Level)
		maps.DeleteFunc(starts, func(level, _ int) bool { return level > p.Level || level == p.Level && n != last+1 })
		if len(starts) == 0 { // all lists of the head have ended: those after them have numbers of their own
			return
		}
		start, goesOn := starts[p.Level]
		if !goesOn {
			continue
		}
		if start == 0 {
			start, starts[p.Level] = n, n
		}
		list := *p.List
		list.Start = start // all have the same: those after the first count on
		p.List = &list
	}
}
