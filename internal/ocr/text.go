package ocr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// noise is the confidence below which a guess is not evidence of text: specks and lines of drawings are read as
// characters with less.
const noise = 0.3

// Clean drops what is not text: words of low confidence without a letter or digit, and paragraphs of low
// confidence as a whole.
func (p Page) Clean() Page {
	clean := p
	clean.Paragraphs = nil
	for _, paragraph := range p.Paragraphs {
		if weight, sum := paragraph.weigh(); sum < noise*weight {
			continue
		}
		var kept Paragraph
		for _, line := range paragraph {
			var words Line
			for _, w := range line {
				if w.Confidence >= noise || Letters(w.Text) > 0 {
					words = append(words, w)
				}
			}
			if len(words) > 0 {
				kept = append(kept, words)
			}
		}
		if len(kept) > 0 {
			clean.Paragraphs = append(clean.Paragraphs, kept)
		}
	}
	return clean
}

// Confidence returns the mean over all letters and digits, 0-1; zero if there are none.
func (p Page) Confidence() float64 {
	var weight, sum float64
	for _, paragraph := range p.Paragraphs {
		w, s := paragraph.weigh()
		weight, sum = weight+w, sum+s
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// Letters counts letters and digits.
func (p Page) Letters() int {
	n := 0
	for w := range p.words() {
		n += Letters(w.Text)
	}
	return n
}

// Evidence returns the amount of confident text. Of several readings of one image the right one has the most: a
// wrong one has few or doubtful words.
func (p Page) Evidence() float64 {
	sum := 0.0
	for w := range p.words() {
		sum += w.evidence()
	}
	return sum
}

func (w Word) evidence() float64 { return w.Confidence * w.Confidence * float64(Letters(w.Text)) }

// weigh counts the characters and sums their confidence.
func (p Paragraph) weigh() (weight, sum float64) {
	for _, line := range p {
		for _, w := range line {
			n := float64(max(Letters(w.Text), 1))
			weight += n
			sum += n * w.Confidence
		}
	}
	return weight, sum
}

// Text joins the lines, and words that are hyphenated at line ends.
func (p Paragraph) Text() string {
	var b strings.Builder
	before := ""
	for _, line := range p {
		for i, w := range line {
			text := w.Text
			switch {
			case b.Len() == 0:
			case i == 0 && hyphenated(before, text):
				joined := strings.TrimRight(b.String(), "-\u2010\u00ad")
				b.Reset()
				b.WriteString(joined)
			case i == 0 && compound(before):
			default:
				b.WriteByte(' ')
			}
			b.WriteString(text)
			before = text
		}
	}
	return b.String()
}

// Box returns the box around all words, unknown if their boxes are.
func (p Paragraph) Box() Box {
	var box Box
	for _, line := range p {
		box = around(box, line.Box())
	}
	return box
}

// Box returns the box around all words, unknown if their boxes are.
func (l Line) Box() Box {
	var box Box
	for _, w := range l {
		box = around(box, w.Box)
	}
	return box
}

func around(a, b Box) Box {
	if !a.Known() {
		return b
	}
	if !b.Known() {
		return a
	}
	return Box{min(a.Left, b.Left), min(a.Top, b.Top), max(a.Right, b.Right), max(a.Bottom, b.Bottom)}
}

// Text joins the words.
func (l Line) Text() string {
	words := make([]string, len(l))
	for i, w := range l {
		words[i] = w.Text
	}
	return strings.Join(words, " ")
}

// compound reports whether a word at a line's end continues on the next line: it ends with a hyphen after a
// letter.
func compound(word string) bool {
	last, n := utf8.DecodeLastRuneInString(word)
	before, _ := utf8.DecodeLastRuneInString(word[:len(word)-n])
	return strings.ContainsRune("-\u2010\u00ad", last) && unicode.IsLetter(before)
}

// hyphenated reports whether that hyphen only marks the line break: the next word is lower-case.
func hyphenated(word, next string) bool {
	first, _ := utf8.DecodeRuneInString(next)
	return compound(word) && unicode.IsLower(first)
}

// Letters counts the letters and digits of a text.
func Letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
