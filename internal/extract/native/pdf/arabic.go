package pdf

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Lam and alef are always drawn as one glyph, which stands for two letters in reading order, while poppler prints
// the glyphs of a word from left to right. So its words don't tell "سلامة" from "سالمة". pdftohtml prints a blank
// after each glyph if any gap is wide enough for one: then the letters of one glyph are those without a blank
// between them.

// glyphWord is the glyphs of a word from left to right.
type glyphWord struct {
	box
	glyphs []string
}

// glyphKey is the letters of a word without what the programs print in different orders, or in other words: marks,
// joiners and punctuation.
func glyphKey(visual string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(visual))
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// orderLetters puts the letters of a page's right-to-left words in order by their glyphs, and joins parts of words that
// are apart only because their line was stretched. Words whose glyphs it doesn't find stay.
func (p *page) orderLetters(lines []glyphLine) {
	found := map[string][]glyphWord{}
	for _, l := range lines {
		l.words(func(w glyphWord) {
			key := glyphKey(strings.Join(w.glyphs, ""))
			found[key] = append(found[key], w)
		})
	}
	p.words = joinStretched(p.words, found)
	for i := range p.words {
		w := &p.words[i]
		if w.spell(w.visual, found) {
			continue
		}
		for part := range strings.SplitSeq(w.visual, string(nonJoiner)) {
			w.spell(part, found)
		}
	}
}

// spell puts a part of a word's letters in the order of its glyphs, if they are found.
func (w *word) spell(visual string, found map[string][]glyphWord) bool {
	letters := strings.TrimFunc(visual, notLetter)
	if letters == "" {
		return false
	}
	g, ok := nearestWord(found[glyphKey(letters)], w.box)
	if ok {
		w.text = strings.Replace(w.text, normalize(logical(letters)), normalize(logicalGlyphs(g.glyphs)), 1)
	}
	return ok
}

// joinStretched joins neighbors within a line that are one word by their glyphs, or touch.
func joinStretched(words []word, found map[string][]glyphWord) []word {
	const most = 6 // parts of a word
	out := words[:0]
	for start := 0; start < len(words); {
		joined, n := words[start], 1
		if words[start].visual != "" {
			whole := words[start]
			for end := start + 1; end < min(len(words), start+most); end++ {
				w := words[end]
				if w.visual == "" || w.segment != whole.segment || w.left-words[end-1].right > 0.6*w.em() {
					break
				}
				whole.visual += w.visual
				whole.box = whole.union(w.box)
				g, ok := nearestWord(found[glyphKey(whole.visual)], whole.box)
				joiner := strings.HasSuffix(words[end-1].visual, string(nonJoiner)) || lettersTouch(words[end-1], w)
				if joiner && n == end-start || ok && abs(g.centerY()-whole.centerY()) < whole.height() {
					joined, n = whole, end-start+1
				}
			}
			if n > 1 {
				joined.text = normalize(logical(joined.visual))
			}
		}
		out = append(out, joined)
		start += n
	}
	return out
}

// lettersTouch reports whether two right-to-left words meet at letters without any gap. Poppler begins another word where the
// font changes, or the text is written in parts.
func lettersTouch(a, b word) bool {
	const least = 0.05 // font sizes
	last, _ := utf8.DecodeLastRuneInString(a.visual)
	first, _ := utf8.DecodeRuneInString(b.visual)
	return rightToLeft(last) && rightToLeft(first) && abs(b.left-a.right) < least*min(a.em(), b.em())
}

// nearestWord returns the one of several spellings whose line is nearest to a word.
func nearestWord(all []glyphWord, b box) (best glyphWord, ok bool) {
	distance := func(g glyphWord) float64 {
		return abs(g.centerY()-b.centerY()) + max(0, g.left-b.centerX(), b.centerX()-g.right)
	}
	for _, g := range all {
		if !ok || distance(g) < distance(best) {
			best, ok = g, true
		}
	}
	return best, ok
}

// words yields the line's right-to-left words, each within the part of the line that its letters take.
func (l glyphLine) words(yield func(glyphWord)) {
	total, done := float64(max(len(l.text), 1)), 0
	for part := range strings.SplitSeq(l.text, glyphBlank) {
		glyphs := strings.Fields(strings.TrimFunc(part, notLetter))
		if hasRightToLeft(part) {
			b := l.box
			b.left += l.width() * float64(done) / total
			b.right = b.left + l.width()*float64(len(part))/total
			yield(glyphWord{b, glyphs})
		}
		done += len(part) + len(glyphBlank)
	}
}

// logicalGlyphs is logical for a word of which each glyph's letters are known.
func logicalGlyphs(glyphs []string) string {
	var clusters []string
	for _, g := range glyphs {
		first := []rune(g)[0]
		if n := len(clusters); n > 0 && unicode.Is(unicode.Mn, first) {
			clusters[n-1] += g
			continue
		}
		clusters = append(clusters, g)
	}
	slices.Reverse(clusters)
	reverseNumbers(clusters)
	return norm.NFKC.String(strings.Join(clusters, ""))
}

// withoutDoubleAlef mends words whose glyphs are unknown: no word has an alef before another, so a lam
// after both belongs between them.
var withoutDoubleAlef = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, alef := range "آأإا" {
		pairs = append(pairs, "ا"+string(alef)+"ل", "ال"+string(alef))
	}
	return strings.NewReplacer(pairs...)
})
