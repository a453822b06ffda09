package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/section"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxHeading limits a heading, in words.
const maxHeading = 25

// nearBody is how much smaller than the running text a heading may be that other fonts set apart: the size of the text is
// known to half a point.
const nearBody = 0.94

// numberedHead matches the head of a numbered statement: "Definition 1", "Example 2.3 (Bases)".
var numberedHead = pattern.New(`^\p{Lu}\p{L}+ \d+(\.\d+)*\b`)

// captionStart matches the start of a caption of a figure or table. The text after the number distinguishes it
// from a sentence about the figure.
var captionStart = pattern.New(`^[\[<【]?(?i:figure|fig\s?\.?|table|tab\.?|listing|algorithm|scheme|chart|exhibit|plate|photo|abbildung|abb\.?|tabelle|tableau|figura|tabla|표|그림|图|表|図)(\s*\d+|\s+[IVX]+|\s+[A-Z])([.\-–]\d+)*\s*([:.)\]>】|–—-]|$|\s{2})`)

// captionHead matches the start of a caption without a mark after its number, which is set like a heading.
var captionHead = pattern.New(`^(?i:figure|fig\s?\.?|table|tab\.?|abbildung|abb\.?|tabelle|tableau|figura|tabla)\s*\d+([.\-–]\d+)*\s+\p{Lu}`)

// isCaption reports whether a piece's text is a caption.
func isCaption(text string) bool { return captionStart.MatchString(text) }

// isHeading reports whether a piece without a list marker, or one whose marker may be a section number, is
// short and set like a heading: larger than the running text, bold or italic where that is not, or in capitals.
func isHeading(p *piece, text string, s *stats) bool {
	words := wordCount(text)
	ends, _ := utf8.DecodeLastRuneInString(text)
	if words > maxHeading || len(p.lines) > 4 || letters(text) < 2 || strings.ContainsRune(",;，；、", ends) ||
		p.math && words < 4 || isEntry(p) || p.hasCells() || !isProse(text) || p.isTurned(s) {
		return false
	}
	ratio := p.size / s.body()
	period := strings.ContainsRune(".。", ends) && words > 6
	number := section.Numbered(text)
	switch {
	case ratio >= 1.15 && !s.isText(p):
		return !period && (!p.mono || s.mostlyMono()) && !(ratio < 1.3 && !p.bold && startsLower(text))
	case p.leadsIn(), p.isByline():
		return false
	case p.marker != "" && words > 12:
		return false
	case ratio >= 0.9 && p.bold && !s.mostlyBold():
		return !period && p.wholly() && !(ratio < 1.05 && p.isTerm())
	case number && ratio >= 1.05:
		return !period
	}
	if len(p.lines) > 1 || p.width() > 0.75*p.column.width() || ratio < nearBody || strings.ContainsRune(".:。：", ends) ||
		p.mono || p.isTerm() {
		return false
	}
	apart := p.above > 1.25 || s.repeats(p)
	if !isTitle(text, number) {
		return false
	}
	if words <= 12 && letters(text) >= 4 && (p.isOtherFace(s) && (apart || number || p.marker != "") ||
		apart && p.isOtherSlope(s)) {
		return true
	}
	if !apart || p.marker != "" && !(number && p.isCentered()) {
		return false
	}
	return p.italic && !s.mostlyItalic() && words <= 10 && unicode.IsUpper([]rune(text)[0]) ||
		words <= 12 && letters(text) >= 4 && section.InCapitals(text)
}

// isTitle reports whether a text may be a heading where neither its size nor its weight tells: it begins with a word or a
// section's number, and is no part of a sentence, no formula and no line of a program.
func isTitle(text string, numbered bool) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if mark, rest, ok := strings.Cut(text, " "); ok && ordinal.MatchString(mark) {
		text = rest
	}
	return (numbered || unicode.IsLetter(first) && !sentenceEnd.MatchString(text)) &&
		!strings.ContainsAny(text, "{}\\=@|<>⟨⟩") && longestWord(text) > 2
}

// isTurned reports whether a piece has letters of an unknown size in a document whose sizes are known: poppler prints
// text at an angle so, as the labels of a diagram's axes.
func (p *piece) isTurned(s *stats) bool {
	return s.sized*2 > s.total && slices.ContainsFunc(wordsIn(p.lines), func(w word) bool {
		return w.size == 0 && letters(w.text) > 0
	})
}

// startsLower reports whether a text begins with a small letter.
func startsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// isByline reports whether a piece is right-aligned, as an author's name and a date are, in a script that isn't.
func (p *piece) isByline() bool {
	l := p.lines[0]
	return len(p.lines) == 1 && l.left > p.column.centerX() && p.column.right-l.right < p.size &&
		!slices.ContainsFunc(l.words(), func(w word) bool { return w.rtl })
}

// isOtherFace reports whether a piece is wholly in a font of another family than the running text, which follows it.
func (p *piece) isOtherFace(s *stats) bool {
	below := p.textBelow()
	return p.face != "" && !p.mono && !p.math && below != nil && below.face != p.face && s.isFace(below.face) && !s.isFace(p.face)
}

// textBelow returns the running text below a piece, which other headings may precede, or nil.
func (p *piece) textBelow() *piece {
	for next, n := p.next, 0; next != nil && next.table == nil && n < maxBetween; next, n = next.next, n+1 {
		if len(next.lines) > 1 || next.width() > 0.75*p.column.width() {
			return next
		}
	}
	return nil
}

// maxBetween is how many pieces textBelow looks at.
const maxBetween = 3

// isOtherSlope reports whether a piece is wholly in italics, and running text that isn't follows it.
func (p *piece) isOtherSlope(s *stats) bool {
	return p.italic && !s.mostlyItalic() && !strings.HasPrefix(p.marker, "(") && p.next != nil && p.next.table == nil && !p.next.italic && p.next.marker == "" &&
		len(p.next.lines) > 1
}

// isCentered reports whether a piece is a line in the middle of its column, where no item of a list is.
func (p *piece) isCentered() bool {
	return len(p.lines) == 1 && abs(p.centerX()-p.column.centerX()) < p.size && p.left-p.column.left > 2*p.size
}

// address matches an address of the web or of e-mail.
var address = pattern.New(`://|\bwww\.|\w@\w+\.\w`)

// notProse matches the start of the name below a quotation, an amount, a formula, the meaning of a symbol, or a line of a program.
var notProse = pattern.New("^([—–=<>+$€£¥₹`~|\\\\^%]|#\\p{L})")

// isProse reports whether a text may be a heading by its characters: it has words, mostly of letters and digits, and no
// address. The labels of a figure, a formula, an amount and the syntax of a command aren't prose.
func isProse(text string) bool {
	if notProse.MatchString(text) {
		return false
	}
	marks, all := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		marks += one(!unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && !unicode.IsDigit(r))
	}
	return 2*marks <= all && longestWord(text) > 1 && !address.MatchString(text)
}

// longestWord returns the letters of the word with the most. One of Chinese and Japanese is as two.
func longestWord(text string) (longest int) {
	length := 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			length = 0
		case wideScript(r) && unicode.IsLetter(r):
			length += 2
		case unicode.IsLetter(r), unicode.Is(unicode.Mn, r):
			length++
		}
		longest = max(longest, length)
	}
	return longest
}

// hasCells reports whether words of a piece are far apart, as in the head of a table; a section's number may be.
func (p *piece) hasCells() bool {
	for _, l := range p.lines {
		before := 0 // letters
		words := l.words()
		for i := 1; i < len(words); i++ {
			before += letters(words[i-1].text)
			if before > 1 && words[i].left-words[i-1].right > 1.8*words[i].em() {
				return true
			}
		}
	}
	return false
}

// isTerm reports whether a piece is the term of a definition: the next one is right below it and indented, unlike
// other text around them.
func (p *piece) isTerm() bool {
	next := p.next
	text := p.lines[0].text()
	first, _ := utf8.DecodeRuneInString(text)
	if next == nil || next.table != nil || next.marker != "" && p.above > 1.6 && !strings.HasSuffix(text, ":") || next.wholly() || len(p.lines) > 1 || unicode.IsDigit(first) || first == '§' ||
		section.Numbered(text) || numberedHead.MatchString(text) {
		return false
	}
	indent := next.lines[0].left - p.left
	return indent > 1.2*p.size && indent < 8*p.size && next.above < 1.6 && p.flush
}

// isEntry reports whether a piece is an entry of a table of contents or of a form: with a dot leader, or with its page
// number far to the right.
func isEntry(p *piece) bool { return entryLine(p.lines[len(p.lines)-1].words()) }

func entryLine(words []word) bool {
	if len(words) < 2 {
		return false
	}
	if hasLeader(words) {
		return true
	}
	last, before := words[len(words)-1], words[len(words)-2]
	if onlyDots(before.text) && len(words) > 3 && onlyDots(words[len(words)-3].text) && pageNumber.MatchString(last.text) {
		return true
	}
	return letters(words[0].text)+letters(before.text) > 2 && last.left-before.right > 1.5*last.em() && pageNumber.MatchString(last.text)
}
