package typeset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a line in one look.
type Piece struct {
	Text  string
	Run   int     // of its paragraph
	Look  Look    // its size is scaled
	X     float64 // from the left of the text's area, in points
	Width float64
	Raw   int // bytes of the run, with the white space and the line break that end the line
}

// Line is a line of text.
type Line struct {
	Paragraph int
	Pieces    []Piece
	Y         float64 // of its top from the top of the text's area, in points
	Height    float64
	Size      float64 // of its largest piece, in points
	Width     float64 // of its text without the space at its end
	Marker    string  // of the list's item that begins here; empty: none
	MarkerX   float64 // its left edge; of a paragraph from right to left its right edge
	Last      bool    // of its paragraph, or before a line break
}

// span is a part of a paragraph that stays together on a line: a word with the space behind it.
type span struct {
	text  string
	run   int
	look  Look
	width float64
	space float64 // of the white space at its end, which is in width
	end   bool    // a line break follows
	glued bool    // it belongs to the word before: no line ends between them
}

// spans cuts the text of a run where lines may end: behind spaces and hyphens, and around wide characters.
func spans(face Face, text string, run int, look Look, glued bool) []span {
	var out []span
	add := func(piece string, end bool) {
		trimmed := strings.TrimRightFunc(piece, unicode.IsSpace)
		s := span{text: piece, run: run, look: look, end: end, width: face.Width(piece, look), glued: glued && len(out) == 0}
		if len(trimmed) < len(piece) {
			s.space = s.width - face.Width(trimmed, look)
		}
		out = append(out, s)
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			if len(out) == 0 {
				add("", true)
			} else {
				out[len(out)-1].end = true
			}
		}
		for len(line) > 0 {
			n := wordEnd(line)
			add(line[:n], false)
			line = line[n:]
		}
	}
	return out
}

// wordEnd returns the length of the first word of a line with the space behind it.
func wordEnd(line string) int {
	seenSpace := false
	for i, r := range line {
		switch {
		case unicode.IsSpace(r) && r != 0xA0:
			seenSpace = true
			continue
		case seenSpace:
			return i
		}
		size := utf8.RuneLen(r)
		if wide(r) || r == '-' && i > 0 || r == 0x2014 || r == '/' && i > 0 {
			// Marks such as a full stop stay with the character before.
			next, _ := utf8.DecodeRuneInString(line[i+size:])
			if i+size < len(line) && !unicode.IsSpace(next) && !unicode.IsPunct(next) {
				return i + size
			}
		} else if next, _ := utf8.DecodeRuneInString(line[i+size:]); i+size < len(line) && wide(next) && !unicode.IsPunct(next) {
			return i + size
		}
	}
	return len(line)
}

// wrap fills lines of the width with spans. first is the width of the first line.
func wrap(face Face, all []span, first, rest float64) [][]span {
	var lines [][]span
	var line []span
	used, limit := 0.0, first
	flush := func() {
		lines = append(lines, line)
		line, used, limit = nil, 0, rest
	}
	words := wordWidths(all)
	for i := 0; i < len(all); i++ {
		s := all[i]
		if len(line) > 0 && used+words[i] > limit+0.01 && !s.glued {
			flush()
		}
		if len(line) == 0 && s.width-s.space > limit {
			head, tail := cut(face, s, limit)
			if tail != nil {
				line = append(line, head)
				flush()
				words[i] -= s.width - tail.width
				all[i] = *tail
				i--
				continue
			}
		}
		line = append(line, s)
		used += s.width
		if s.end {
			flush()
			if i == len(all)-1 { // the paragraph ends with a line break: an empty line follows
				line = append(line, span{run: s.run, look: s.look})
			}
		}
	}
	if len(line) > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// wordWidths are the widths of the words that begin at each span, without the space behind them: of the span, and those
// glued to it.
func wordWidths(all []span) []float64 {
	widths := make([]float64, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		widths[i] = all[i].width - all[i].space
		if i+1 < len(all) && all[i+1].glued && all[i].space == 0 && !all[i].end {
			widths[i] += widths[i+1]
		}
	}
	return widths
}

// cut divides a word that is wider than a line. A word may be a million letters: what it does takes the time of a line,
// and not of the word.
func cut(face Face, s span, limit float64) (head span, tail *span) {
	at := beginning(face, s, limit)
	if at >= len(s.text) {
		return s, nil
	}
	head, rest := s, s
	head.text, head.end, head.space = s.text[:at], false, 0
	head.width = face.Width(head.text, s.look)
	rest.text, rest.glued = s.text[at:], false
	// Letters may be of another width where they are not joined, which matters for the end of the word.
	if rest.width = s.width - head.width; rest.width < 4*limit {
		rest.width = face.Width(rest.text, s.look)
	}
	return head, &rest
}

// beginning is how many bytes of a word fit into a width: of one character at least.
func beginning(face Face, s span, limit float64) int {
	fits := func(n int) bool { return face.Width(s.text[:n], s.look) <= limit }
	_, low := utf8.DecodeRuneInString(s.text) // is taken, whatever its width
	high := low
	for high < len(s.text) && fits(high) {
		low, high = high, runeStart(s.text, 2*high)
	}
	if high >= len(s.text) && fits(len(s.text)) {
		return len(s.text)
	}
	for { // low is taken, and high is not
		middle := runeStart(s.text, (low+high+1)/2)
		if middle >= high {
			middle = runeStart(s.text, low+1)
		}
		if middle >= high {
			return low
		}
		if fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
}

// runeStart is the first place from n on where a character begins, or the end of the text.
func runeStart(s string, n int) int {
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return min(n, len(s))
}
