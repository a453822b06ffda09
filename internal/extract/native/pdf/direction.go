package pdf

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Poppler prints words with boxes in visual order, from left to right. Right-to-left text is converted to
// reading order: here the characters of a word, and the words of a line by mirroring the layout of pages with
// such text, so that all layout rules hold for them as well.

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
	reverseRuns(clusters, func(c []rune) bool {
		return unicode.IsDigit(c[0]) || unicode.IsLetter(c[0]) && !rightToLeft(c[0])
	})
	return norm.NFKC.String(string(slices.Concat(clusters...)))
}

// reverseRuns reverses each run of items for which against is true.
func reverseRuns[T any](items []T, against func(T) bool) {
	for start := 0; start < len(items); start++ {
		end := start
		for end < len(items) && against(items[end]) {
			end++
		}
		slices.Reverse(items[start:end])
		start = max(start, end)
	}
}

// mirror flips a page whose words are mostly right-to-left.
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
	for i, r := range p.rules {
		p.rules[i].left, p.rules[i].right = p.width-r.right, p.width-r.left
	}
	for i, b := range p.fills {
		p.fills[i].left, p.fills[i].right = p.width-b.right, p.width-b.left
	}
}

// inReadingOrder reverses the runs of words that read against their line's direction.
func inReadingOrder(words []word) []word {
	against := func(w word) bool {
		return w.rtl != w.mirrored && (w.rtl || letters(w.text) > 0 || isNumeric(w.text))
	}
	if !slices.ContainsFunc(words, against) {
		return words
	}
	words = slices.Clone(words)
	reverseRuns(words, against)
	return words
}
