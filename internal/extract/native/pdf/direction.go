package pdf

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Poppler prints words with boxes as they look, from left to right. Text that runs from right to left
// is put into the order in which it is read: the characters of a word here, the words of a line by laying
// out pages of such text mirrored, so that everything else about the layout holds for them as well.

// rightToLeft reports whether a letter belongs to a script that runs from right to left.
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

// logical puts the characters of a word of a right-to-left script into reading order: all are turned round,
// marks stay behind their letters, numbers and Latin parts keep their order. Letters in the shapes that
// they have in print become plain ones (Unicode's NFKC).
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
	turnBack(clusters, func(c []rune) bool {
		return unicode.IsDigit(c[0]) || unicode.IsLetter(c[0]) && !rightToLeft(c[0])
	})
	return norm.NFKC.String(string(slices.Concat(clusters...)))
}

// turnBack turns each run of items for which against holds.
func turnBack[T any](items []T, against func(T) bool) {
	for start := 0; start < len(items); start++ {
		end := start
		for end < len(items) && against(items[end]) {
			end++
		}
		slices.Reverse(items[start:end])
		start = max(start, end)
	}
}

// mirror flips a page on which most words run from right to left.
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
		return
	}
	p.mirrored = true
	for i := range p.words {
		w := &p.words[i]
		w.left, w.right, w.mirrored = p.width-w.right, p.width-w.left, true
	}
}

// inReadingOrder turns the runs of words that read against their line's direction.
func inReadingOrder(words []word) []word {
	against := func(w word) bool {
		return w.rtl != w.mirrored && (w.rtl || letters(w.text) > 0 || isNumeric(w.text))
	}
	if !slices.ContainsFunc(words, against) {
		return words
	}
	words = slices.Clone(words)
	turnBack(words, against)
	return words
}
