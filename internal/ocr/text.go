package ocr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// noise is the confidence below which an engine's guess is not evidence of text: specks and lines of
// drawings are read as characters with less.
const noise = 0.3

// Clean leaves out what is not text: words without a letter or digit that the engine hardly believes
// in, and paragraphs that it hardly believes in as a whole.
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

// Confidence is the mean over all letters and digits, 0-1; zero when there is none.
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
	for _, paragraph := range p.Paragraphs {
		for _, line := range paragraph {
			for _, w := range line {
				n += Letters(w.Text)
			}
		}
	}
	return n
}

// Evidence says how much text the engine is sure of; of several readings of one image the right one
// has the most: a wrong one has few words, or doubtful ones.
func (p Page) Evidence() float64 {
	sum := 0.0
	for _, paragraph := range p.Paragraphs {
		for _, line := range paragraph {
			for _, w := range line {
				sum += w.Confidence * w.Confidence * float64(Letters(w.Text))
			}
		}
	}
	return sum
}

// weigh counts the characters, and sums the confidence in them.
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

// Text joins the lines. A word that is hyphenated over a line's end is put together again.
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

// Box is the box around all words; unknown when those of its words are.
func (p Paragraph) Box() Box {
	var box Box
	for _, line := range p {
		box = around(box, line.Box())
	}
	return box
}

// Box is the box around all words; unknown when theirs are.
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

// compound reports whether a word at a line's end goes on in the next: it has a hyphen behind a letter.
func compound(word string) bool {
	last, n := utf8.DecodeLastRuneInString(word)
	before, _ := utf8.DecodeLastRuneInString(word[:len(word)-n])
	return strings.ContainsRune("-\u2010\u00ad", last) && unicode.IsLetter(before)
}

// hyphenated reports whether that hyphen only marks the line's end: what follows is in lower case.
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
