package pdf

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A page that is not mirrored may have lines from right to left, such as those beside or below their translation, and
// words from right to left within its other lines. Which way a line runs is decided by most of its words.

// turnParts marks what reads backwards on a page that is not mirrored, and puts what poppler prints from left to right
// within it in reading order.
func (p *page) turnParts() {
	if !slices.ContainsFunc(p.words, func(w word) bool { return w.rtl }) {
		return
	}
	out := make([]word, 0, len(p.words))
	before := box{} // of the line before, if it reads backwards as a whole
	for start := 0; start < len(p.words); {
		end := start
		for end < len(p.words) && p.words[end].segment == p.words[start].segment {
			end++
		}
		line := p.words[start:end]
		around := box{}
		for _, w := range line {
			around = around.union(w.box)
		}
		whole := backwards(line, !p.fromImage) || !p.fromImage && endsBackwards(line, before, around)
		out = p.turnPartsOf(out, line, whole)
		if before = (box{}); whole {
			before = around
		}
		start = end
	}
	p.words = out
}

// turnPartsOf is turnParts for one line, which may read backwards as a whole. It appends its words to out.
func (p *page) turnPartsOf(out, line []word, whole bool) []word {
	if whole && !p.fromImage && isLeftMarker(line[0]) {
		out, line = append(out, line[0]), line[1:]
	}
	for len(line) > 0 {
		start, end := nextPart(line, whole)
		out = append(out, line[:start]...)
		part := line[start:end]
		line = line[end:]
		for i := range part {
			part[i].backwards = true
		}
		if !p.fromImage && len(part) > 0 { // engines read in order
			part = mergeTouching(part)
			turnRuns(part)
			if !whole {
				turnEdges(part)
			}
			for i := range part {
				part[i].text = faceInwards(part[i].text)
			}
		}
		out = append(out, part...)
	}
	return out
}

// closings are what a sentence or a part of it ends with.
const closings = ".,:;!?،؛؟"

// backwards reports whether a line runs from right to left: most of its words do, and where its words are visual, as poppler
// prints them, no punctuation ends it, or Latin words at its start, towards the right.
func backwards(line []word, visual bool) bool {
	rtl, latin := 0, 0
	for _, w := range line {
		rtl += one(w.rtl)
		latin += one(!w.rtl && letters(w.text) > 0)
	}
	if rtl <= latin || !visual {
		return rtl > latin
	}
	if last := line[len(line)-1]; last.rtl && strings.IndexAny(last.text, closings) == 0 {
		return false
	}
	first := slices.IndexFunc(line, func(w word) bool { return w.rtl })
	if first == 0 {
		return true
	}
	before := line[first-1].text
	r, _ := utf8.DecodeLastRuneInString(before)
	return letters(before) == 0 || !strings.ContainsRune(closings, r)
}

// endsBackwards reports whether a line is the end of the one before it, which reads backwards: a number that has punctuation on
// its left, below the start of that line.
func endsBackwards(line []word, before, around box) bool {
	under := before != box{} && around.top > before.centerY() && around.top < before.bottom+before.height() &&
		abs(around.right-before.right) < 0.5*around.height()
	return under && !slices.ContainsFunc(line, func(w word) bool { return letters(w.text) > 0 }) &&
		strings.IndexAny(line[0].text, closings+")]}»") == 0
}

// nextPart returns the next part of a line that reads backwards: all of a line that does as a whole, or from one
// right-to-left word to the last that has no Latin word before it.
func nextPart(line []word, whole bool) (start, end int) {
	if whole {
		return 0, len(line)
	}
	start = slices.IndexFunc(line, func(w word) bool { return w.rtl })
	if start < 0 {
		return len(line), len(line)
	}
	end = start + 1
	for i := end; i < len(line) && (line[i].rtl || letters(line[i].text) == 0 && !isLeader(line[i])); i++ {
		if line[i].rtl {
			end = i + 1
		}
	}
	return start, end
}

// isLeftMarker reports whether a word on the left of a line is the bullet or the number of a list. At the end of a line from
// right to left the punctuation would be on the left of a number.
func isLeftMarker(w word) bool {
	return isBullet(w) || ordinal.MatchString(w.text) && !strings.HasPrefix(w.text, "(")
}

// turnEdges moves what belongs to the line around a part that reads backwards to where it is read: a bracket that opens left of
// the part, and what closes right of it. A bracketed word keeps its brackets.
func turnEdges(part []word) {
	const openers, closers = "([{«", closings + ")]}»"
	first, last := &part[len(part)-1], &part[0] // as they are read; their text is reversed
	after := first.text[:len(first.text)-len(strings.TrimLeft(first.text, closers))]
	before := last.text[len(strings.TrimRight(last.text, openers)):]
	if len(part) > 1 {
		if strings.TrimRight(first.text, openers) != first.text {
			after = ""
		}
		if strings.TrimLeft(last.text, closers) != last.text {
			before = ""
		}
	}
	first.text = first.text[len(after):]
	last.text = last.text[:len(last.text)-len(before)]
	first.text = turned(before) + first.text
	last.text += turned(after)
}

// turnsAround reports whether one of two lines reads backwards as a whole, and the other one not at all.
func turnsAround(a, b []word) bool {
	aForth, aBack := directions(a)
	bForth, bBack := directions(b)
	return aForth && !aBack && bBack && !bForth || bForth && !bBack && aBack && !aForth
}

// directions reports whether words are not in what reads backwards, and whether others are.
func directions(words []word) (forth, back bool) {
	for _, w := range words {
		back = back || w.backwards
		forth = forth || !w.backwards && letters(w.text) > 0
	}
	return forth, back
}

// inReadingOrder reverses the runs of words that read against their line's direction.
func inReadingOrder(words []word) []word {
	forwards := func(w word) bool { return !w.rtl && (letters(w.text) > 0 || isNumeric(w.text)) }
	against := func(w word) bool {
		if w.mirrored {
			return forwards(w)
		}
		return w.rtl || w.backwards
	}
	if !slices.ContainsFunc(words, against) {
		return words
	}
	words = slices.Clone(words)
	apart := func(w word) bool { return w.apart }
	if words[0].mirrored {
		reverseRuns(words, against, apart)
		return words
	}
	reverseRuns(words, against, func(word) bool { return false })
	reverseRuns(words, func(w word) bool { return w.backwards && forwards(w) }, apart)
	return words
}
