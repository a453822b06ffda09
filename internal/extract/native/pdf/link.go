package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// link gives the words that lie in links their targets, unless the links are those of a page of another size: then the
// positions would not fit. It must be called before the page is rotated.
func (p *page) link(l *content.Links) {
	if l == nil || len(l.All) == 0 || abs(l.Width-p.width) > 1.5 || abs(l.Height-p.height) > 1.5 {
		return
	}
	var areas []run
	var targets []string
	for _, a := range l.All {
		if t := extract.Target(a.Address); t != "" {
			areas = append(areas, run{box: box{a.Left, a.Top, a.Right, a.Bottom}})
			targets = append(targets, t)
		}
	}
	index := indexRuns(areas, 0, 0)
	for i := range p.words {
		w := &p.words[i]
		if at, ok := index.find(w.centerX(), w.centerY()); ok {
			w.target = targets[at]
		}
	}
}

// links returns the links of a block, which was made of the piece.
func (p *piece) links(b extract.Block) []extract.Link {
	words := wordsIn(p.lines)
	if b.Kind == extract.ListItem {
		words = p.itemWords(words)
	}
	return linksOf(b.Text, words)
}

// wordsIn returns the words of lines, which must not be changed.
func wordsIn(lines []line) []word {
	if len(lines) == 1 {
		return lines[0].words()
	}
	n := 0
	for _, l := range lines {
		n += len(l.words())
	}
	words := make([]word, 0, n)
	for _, l := range lines {
		words = append(words, l.words()...)
	}
	return words
}

// linksOf finds the linked words of a text that was joined of words. The links end where text and words differ
// by more than spaces and hyphens.
func linksOf(text string, words []word) []extract.Link {
	if !slices.ContainsFunc(words, func(w word) bool { return w.target != "" }) {
		return nil
	}
	var l extract.Linker
	at, end := 0, 0
	for _, w := range words {
		start, next, ok := locate(text, at, w.text)
		if !ok {
			break
		}
		if w.target != l.Within() || w.target == "" {
			l.End(end)
			if w.target != "" {
				l.Begin(w.target, start)
			}
		}
		at, end = next, next
		if w.target != "" {
			end -= trailing(text[start:next])
		}
	}
	l.End(end)
	return l.Take(0)
}

// locate finds a word in a text from an offset on. Spaces before it and the hyphens of line breaks don't count.
func locate(text string, at int, word string) (start, end int, ok bool) {
	skip := func() {
		for at < len(text) {
			r, n := utf8.DecodeRuneInString(text[at:])
			if !unicode.IsSpace(r) {
				return
			}
			at += n
		}
	}
	skip()
	start = at
	for _, r := range word {
		if unicode.IsSpace(r) {
			continue
		}
		skip()
		found, n := utf8.DecodeRuneInString(text[at:])
		switch {
		case n > 0 && found == r:
			at += n
		case r == '-' || r == softHyphen:
		default:
			return 0, 0, false
		}
	}
	return start, at, true
}

// trailing is how many bytes at the end of a linked word are punctuation of its sentence.
func trailing(s string) int { return len(s) - len(strings.TrimRight(s, ".,;:!?")) }

// joinLinks returns the links of a text that was joined of two, of which the second begins at an offset.
func joinLinks(a, b []extract.Link, at int) []extract.Link {
	for i := range a {
		a[i].End = min(a[i].End, at)
	}
	joined := append(a, extract.Shift(b, at)...)
	if n := len(a); n > 0 && len(b) > 0 && joined[n-1].Target == joined[n].Target && joined[n].Start-joined[n-1].End <= 1 {
		joined[n-1].End = joined[n].End // one link that goes on in the next column
		joined = slices.Delete(joined, n, n+1)
	}
	return joined
}
