package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// boldness is which words of a line are bold, of those that have letters or digits. Formulas don't count.
type boldness struct{ first, last, all bool }

func boldnessOf(words []word) boldness {
	b := boldness{all: true}
	seen := false
	for _, w := range words {
		if w.math || !strings.ContainsFunc(w.text, isWordRune) {
			continue
		}
		if !seen {
			b.first, seen = w.bold, true
		}
		b.last, b.all = w.bold, b.all && w.bold
	}
	b.all = b.all && seen
	return b
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wholly reports whether all lines of a piece are bold to their ends. A bold beginning that runs into its paragraph
// is not.
func (p *piece) wholly() bool {
	for _, l := range p.lines {
		if !boldnessOf(l.words()).all {
			return false
		}
	}
	return true
}

// leadsIn reports whether a piece begins in bold and ends otherwise.
func (p *piece) leadsIn() bool {
	last := p.lines[len(p.lines)-1]
	return boldnessOf(p.lines[0].words()).first && !boldnessOf(last.words()).last
}

// changesFont reports whether a paragraph ends between two lines because their fonts differ: one of them is wholly bold,
// or they are wholly in fonts of two families, and the first line has an end. usual is the distance of lines within a
// paragraph.
func changesFont(prev, l line, usual, right float64) bool {
	a, b := boldnessOf(prev.words()), boldnessOf(l.words())
	weight, face := a.all != b.all, prev.face != "" && l.face != "" && prev.face != l.face
	text := prev.text()
	switch {
	case !weight && !face, strings.HasSuffix(text, "-"), strings.HasSuffix(text, string(softHyphen)):
		return false
	case l.centerY()-prev.centerY() > 1.12*usual, right-prev.right > l.room()+0.6*prev.size:
		return true
	case !weight:
		return false
	}
	// Otherwise the bold words may just begin or end where a line does.
	first, _ := utf8.DecodeRuneInString(l.text())
	if b.all { // a short line after the end of a sentence
		return (unicode.IsUpper(first) || unicode.IsDigit(first)) && endsSentence(text) && right-l.right > 3*l.size
	}
	// After a full line of a heading, whose sentence doesn't end there.
	return (unicode.IsUpper(first) || l.indents(prev)) && !b.first && !endsSentence(text) && !strings.HasSuffix(text, ",")
}

// indents reports whether a line begins further to the right than the one before it, and the text after that one's
// number or bullet.
func (l line) indents(prev line) bool {
	words := prev.words()
	edge := prev.left
	if len(words) > 1 && !words[0].backwards && (isBullet(words[0]) || ordinal.MatchString(words[0].text)) {
		edge = words[1].left
	}
	d := l.left - prev.left
	return d > 0.7*l.size && d < 4*l.size && abs(l.left-edge) > 0.3*l.size
}

// splitAtWeights splits words of Chinese and Japanese, which have no spaces, where their weight changes.
func splitAtWeights(words []word, x runIndex, runs []run) []word {
	if !slices.ContainsFunc(words, word.mayChangeWeight) {
		return words
	}
	out := make([]word, 0, len(words))
	for _, w := range words {
		out = append(out, splitAtWeight(w, x, runs)...)
	}
	return out
}

// mayChangeWeight reports whether a word is several Chinese or Japanese characters.
func (w word) mayChangeWeight() bool {
	first, _ := utf8.DecodeRuneInString(w.text)
	return wideScript(first) && w.width() >= 1.5*w.height()
}

func splitAtWeight(w word, x runIndex, runs []run) []word {
	if !w.mayChangeWeight() {
		return []word{w}
	}
	inset := 0.2 * w.height()
	from, ok := x.find(w.left+inset, w.centerY())
	to, ok2 := x.find(w.right-inset, w.centerY())
	if !ok || !ok2 || runs[from].bold == runs[to].bold {
		return []word{w}
	}
	total := 0.0
	for _, r := range w.text {
		total += advance(r)
	}
	edge := (x.runs[from].right - w.left) / w.width() * total
	done, at := 0.0, 0
	for i, r := range w.text {
		if at = i; done+advance(r)/2 > edge {
			break
		}
		done += advance(r)
	}
	if at == 0 {
		return []word{w}
	}
	a, b := w, w
	a.text, b.text = w.text[:at], w.text[at:]
	a.right, b.left = w.left+done/total*w.width(), w.left+done/total*w.width()
	b.tight = true
	return []word{a, b}
}

// advance is the width of a character relative to a Chinese one's.
func advance(r rune) float64 {
	if wideScript(r) {
		return 1
	}
	return 0.5
}

// wordCount counts words; of Chinese and Japanese, about two characters are one.
func wordCount(text string) int {
	n, wide := 0, 0
	for w := range strings.FieldsSeq(text) {
		n++
		for _, r := range w {
			wide += one(wideScript(r) && unicode.IsLetter(r))
		}
	}
	return n + wide/2
}
