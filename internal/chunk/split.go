package chunk

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// pieces yields a text whole if it has at most limit tokens, otherwise in sentences (Unicode Standard Annex
// #29), and too long sentences in runs of words. The pieces together are the text. The bond is that to the
// previous piece.
func (c *Chunker) pieces(text string, limit int) iter.Seq2[string, bond] {
	return func(yield func(string, bond) bool) {
		switch {
		case text == "":
			return
		case c.config.fits(text, limit):
			yield(text, loose)
			return
		}
		longest := c.config.Max / 4
		for all := sentences.FromString(text); all.Next(); {
			part := all.Value()
			if c.config.fits(part, longest) {
				if !yield(part, sentence) {
					return
				}
				continue
			}
			bond := sentence
			for run := range runs(part, longest) {
				if !yield(run, bond) {
					return
				}
				bond = word
			}
		}
	}
}

// runs cuts a text into runs of words of at most size bytes, at words chosen by their hash, so that the runs
// after an edit stay the same. A word longer than size is cut between runes.
func runs(text string, size int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for end := 0; end < len(text); {
			next := end + wordEnd(text[end:], size)
			if next-start > size { // the word no longer fits
				if !yield(text[start:end]) {
					return
				}
				start = end
			}
			if next-start > size/2 && hash(text[end:next])%8 == 0 {
				if !yield(text[start:next]) {
					return
				}
				start = next
			}
			end = next
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// wordEnd returns the length of the first word of text with the white space after it, at most size bytes but at
// least one rune.
func wordEnd(text string, size int) int {
	space := false
	for i, r := range text {
		if i > 0 && (space && !unicode.IsSpace(r) || i+utf8.RuneLen(r) > size) {
			return i
		}
		space = space || unicode.IsSpace(r)
	}
	return len(text)
}

// tidy trims a text and replaces each run of white space by a line end if it has one, otherwise by a space.
func tidy(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	pending := byte(0)
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			pending = '\n'
		case unicode.IsSpace(r):
			if pending == 0 {
				pending = ' '
			}
		default:
			if pending != 0 && b.Len() > 0 {
				b.WriteByte(pending)
			}
			pending = 0
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Limits of white space in code: a longer run means nothing, but could fill a chunk.
const (
	blanksMax     = 64
	blankLinesMax = 2
)

// tidyCode trims blank lines at both ends and spaces at line ends, and limits white space elsewhere.
func tidyCode(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	empty := 0
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = squeeze(strings.TrimRightFunc(line, unicode.IsSpace))
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat("\n", 1+min(empty, blankLinesMax)))
		}
		b.WriteString(line)
		empty = 0
	}
	return b.String()
}

// squeeze shortens runs of white space in a line to blanksMax runes.
func squeeze(line string) string {
	if len(line) <= blanksMax {
		return line
	}
	run := 0
	return strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) {
			run = 0
			return r
		}
		if run++; run > blanksMax {
			return -1
		}
		return r
	}, line)
}
