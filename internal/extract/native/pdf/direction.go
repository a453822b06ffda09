package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Poppler prints words with boxes in visual order, from left to right. Right-to-left text is converted to
// reading order: here the characters of a word, and the words of a line by mirroring the layout of pages with mostly
// such text, so that all layout rules hold for them as well. For other pages see turnParts.

// rightToLeft reports whether a letter belongs to a right-to-left script.
func rightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8FF, r >= 0xFB1D && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFC:
		return unicode.IsLetter(r)
	}
	return false
}

func hasRightToLeft(s string) bool {
	for _, r := range s {
		if rightToLeft(r) {
			return true
		}
	}
	return false
}

// logical converts the characters of a right-to-left word to reading order: they are reversed, but marks stay
// after their letters, and numbers and Latin parts keep their order. Presentation forms become plain letters
// (Unicode's NFKC).
func logical(s string) string {
	var clusters [][]rune
	for _, r := range s {
		if n := len(clusters); n > 0 && unicode.Is(unicode.Mn, r) {
			clusters[n-1] = append(clusters[n-1], r)
			continue
		}
		clusters = append(clusters, []rune{r})
	}
	slices.Reverse(clusters)
	parts := make([]string, len(clusters))
	for i, c := range clusters {
		parts[i] = string(c)
	}
	reverseNumbers(parts)
	return withoutDoubleAlef().Replace(norm.NFKC.String(strings.Join(parts, "")))
}

// reverseNumbers reverses the runs of numbers and of Latin letters among reversed characters. Separators within a
// number belong to it, as in "12/03/2024" (Unicode Bidirectional Algorithm, rule W4: CS).
func reverseNumbers(reversed []string) {
	first := func(i int) rune { r, _ := utf8.DecodeRuneInString(reversed[i]); return r }
	inside := make([]bool, len(reversed))
	for i := range reversed {
		r := first(i)
		inside[i] = unicode.IsDigit(r) || unicode.IsLetter(r) && !rightToLeft(r) ||
			strings.ContainsRune("./:,،٫٬", r) && i > 0 && i+1 < len(reversed) && unicode.IsDigit(first(i-1)) &&
				unicode.IsDigit(first(i+1))
	}
	for start := 0; start < len(reversed); start++ {
		end := start
		for end < len(reversed) && inside[end] {
			end++
		}
		slices.Reverse(reversed[start:end])
		start = max(start, end)
	}
}

// reverseRuns reverses each run of words for which against is true, and which no word ends.
func reverseRuns(words []word, against, ends func(word) bool) {
	for start := 0; start < len(words); {
		end := start
		for end < len(words) && against(words[end]) && (end == start || !ends(words[end-1])) {
			end++
		}
		slices.Reverse(words[start:end])
		start = max(start+1, end)
	}
}

// mirror flips a page whose words are mostly right-to-left, or turns what is right-to-left on another.
func (p *page) mirror() {
	rtl, ltr := 0, 0
	for _, w := range p.words {
		if w.rtl {
			rtl++
		} else if letters(w.text) > 0 {
			ltr++
		}
	}
	if rtl <= ltr {
		p.turnParts()
		return
	}
	p.mirrored = true
	if !p.fromImage { // engines read in order
		p.words = mergeTouching(p.words)
		p.turnLines()
	}
	for i := range p.words {
		w := &p.words[i]
		w.left, w.right, w.mirrored = p.width-w.right, p.width-w.left, true
	}
	for i, r := range p.rules {
		p.rules[i].left, p.rules[i].right = p.width-r.right, p.width-r.left
	}
	for i, b := range p.dots {
		p.dots[i].left, p.dots[i].right = p.width-b.right, p.width-b.left
	}
	for i, b := range p.fills {
		p.fills[i].left, p.fills[i].right = p.width-b.right, p.width-b.left
	}
}

// turnLines puts what poppler prints from left to right within right-to-left lines in reading order.
func (p *page) turnLines() {
	for start := 0; start < len(p.words); {
		end := start
		rtl, latin := false, 0
		for end < len(p.words) && p.words[end].segment == p.words[start].segment {
			rtl, latin = rtl || p.words[end].rtl, latin+letters(p.words[end].text)
			end++
		}
		if rtl || latin == 0 || end == start+1 { // numbers, or one marker
			turnRuns(p.words[start:end])
		}
		start = end
	}
	for i := range p.words {
		p.words[i].text = faceInwards(p.words[i].text)
	}
}

// turnRuns exchanges what is before and after the numbers and Latin words that were printed from left to right
// within a right-to-left line, as in ".2023", "%3.5" and ".A".
func turnRuns(line []word) {
	for start := 0; start < len(line); {
		end := start
		for end < len(line) && !line[end].rtl {
			if end > start && areApart(line[end-1].text, line[end].text) {
				line[end].apart = true
				break
			}
			end++
		}
		if end == start {
			start++
			continue
		}
		first, last := &line[start], &line[end-1]
		before := punctuationBefore(first.text)
		after := turned(punctuationBefore(turned(last.text)))
		after = after[strings.LastIndexByte(after, '%')+1:] // in Hebrew, a percent sign is printed behind its number
		if len(before) < len(first.text) && len(after) < len(last.text) {
			first.text = first.text[len(before):]
			last.text = last.text[:len(last.text)-len(after)]
			first.text = turned(after) + first.text
			last.text += turned(before)
		}
		start = end
	}
}

// areApart reports whether two words that were printed from left to right are not of one run, since the second one is read
// first: there is a bracket between them that opens towards the left, or a comma before the second one.
func areApart(left, right string) bool {
	last, _ := utf8.DecodeLastRuneInString(left)
	first, _ := utf8.DecodeRuneInString(right)
	return strings.ContainsRune("([{«", last) && !isPunctuation(left) ||
		strings.ContainsRune(")]}»,;،؛", first) && !isPunctuation(right)
}

// punctuationBefore returns the punctuation that a word starts with. A sign, or a mark of an address, belongs to it.
func punctuationBefore(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune(".,:;!?()[]{}«»%،؛؟\"'", r)
	})
	return s[:max(end, 0)]
}

// mergeTouching joins the numbers, separators and brackets that poppler splits from each other, or from a word,
// in a line from right to left: without a gap, they are one word.
func mergeTouching(words []word) []word {
	out := words[:0]
	for _, w := range words {
		n := len(out) - 1
		if n < 0 || out[n].segment != w.segment || isLeader(w) || isLeader(out[n]) || abs(w.left-out[n].right) > 0.06*w.em() {
			out = append(out, w)
			continue
		}
		last := &out[n]
		switch {
		case !last.rtl && !w.rtl:
			last.text += w.text
		case w.rtl && isPunctuation(last.text):
			last.text, last.rtl = w.text+turned(last.text), true
		case last.rtl && isPunctuation(w.text):
			last.text = turned(w.text) + last.text
		default:
			out = append(out, w)
			continue
		}
		last.box = last.union(w.box)
	}
	return out
}

func isLeader(w word) bool { return len(w.text) > 3 && onlyDots(w.text) }

func isPunctuation(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPunct(r) })
}

func turned(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// brackets are those whose looks are exchanged in a line from right to left.
var brackets = map[rune]rune{'(': ')', '[': ']', '{': '}', '«': '»'}

// faceInwards turns brackets at a word's ends that were printed as they look in a line from right to left.
func faceInwards(s string) string {
	runes := []rune(s)
	last := len(runes) - 1
	for opener, closer := range brackets {
		if last > 0 && runes[0] == closer {
			runes[0] = opener
		}
		if last > 0 && runes[last] == opener {
			runes[last] = closer
		}
	}
	return string(runes)
}
