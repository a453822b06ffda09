package pdf

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

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

// findLigatures reads the glyphs of a page's words and puts the letters of its right-to-left words in order by them.
// Words whose glyphs it doesn't find stay.
func (p poppler) findLigatures(ctx context.Context, pg *page) {
	if !slices.ContainsFunc(pg.words, func(w word) bool { return w.visual != "" }) {
		return
	}
	found := map[string][]glyphWord{}
	const everyGap = "-1000" // percent of the letters' height
	args := append([]string{"-wbt", everyGap}, p.runArgs(pg.number, pg.number)...)
	_, err := p.run(ctx, "pdftohtml", func(r io.Reader) error {
		clear(found)
		return readGlyphs(r, func(w glyphWord) {
			key := glyphKey(strings.Join(w.glyphs, ""))
			found[key] = append(found[key], w)
		})
	}, args...)
	if err != nil {
		return
	}
	for i, w := range pg.words {
		letters := strings.TrimFunc(w.visual, notLetter)
		if letters == "" {
			continue
		}
		if g, ok := nearest(found[glyphKey(letters)], w.box); ok {
			pg.words[i].text = strings.Replace(w.text, normalize(logical(letters)), normalize(logicalGlyphs(g.glyphs)), 1)
		}
	}
}

// nearest returns the one of several spellings whose line is nearest to a word.
func nearest(all []glyphWord, b box) (best glyphWord, ok bool) {
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

// readGlyphs reads the output of `pdftohtml -xml` with a blank after each glyph, and yields its words. A blank
// among the letters is the middle one of three.
func readGlyphs(r io.Reader, yield func(glyphWord)) error {
	m := newMarkup(r)
	var line strings.Builder
	var at box
	for n := 0; n < maxWords; {
		text, tag, err := m.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Len() < maxToken {
			line.WriteString(plain(text))
		}
		switch tagName(tag) {
		case "text":
			line.Reset()
			left, top := number(tag, "left")/zoom, number(tag, "top")/zoom
			at = ordered(box{left, top, left + number(tag, "width")/zoom, top + number(tag, "height")/zoom})
		case "/text":
			n += yieldGlyphs(line.String(), at, yield)
			line.Reset()
		}
	}
	return nil
}

// yieldGlyphs yields the words of a line, each within the part of the line that its letters take.
func yieldGlyphs(line string, at box, yield func(glyphWord)) (n int) {
	total, done := float64(max(len(line), 1)), 0
	for part := range strings.SplitSeq(line, "   ") {
		glyphs := strings.Fields(strings.TrimFunc(part, notLetter))
		if hasRightToLeft(part) {
			b := at
			b.left += at.width() * float64(done) / total
			b.right = b.left + at.width()*float64(len(part))/total
			yield(glyphWord{b, glyphs})
			n++
		}
		done += len(part) + len("   ")
	}
	return n
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
var withoutDoubleAlef = func() *strings.Replacer {
	var pairs []string
	for _, alef := range "آأإا" {
		pairs = append(pairs, "ا"+string(alef)+"ل", "ال"+string(alef))
	}
	return strings.NewReplacer(pairs...)
}()
