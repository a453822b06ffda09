package typeset

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// counting counts the characters that are measured.
type counting struct {
	Typical
	n *int
}

func (c counting) Width(text string, look Look) float64 {
	*c.n += len(text)
	return c.Typical.Width(text, look)
}

// A word of any length takes the time of its lines: a checksum or a blob in base64 of a megabyte has no spaces. Measuring
// each beginning of each line, and the rest of the word after each, took the third power of its length.
func TestLongWord(t *testing.T) {
	t.Parallel()
	const letters = 200_000
	n := 0
	face := counting{n: &n}
	look := Look{Family: "Arial", Size: 12}
	lines := wrap(face, spans(face, strings.Repeat("m", letters), 0, look, false), 400, 300)
	total := 0
	for _, line := range lines {
		for _, s := range line {
			total += len(s.text)
		}
	}
	if total != letters || len(lines) < letters/40 {
		t.Errorf("%d letters in %d lines", total, len(lines))
	}
	if n > 40*letters {
		t.Errorf("%d letters were measured", n)
	}
}

// Words that are glued, a letter each, are measured once, and not with each of them.
func TestGluedLetters(t *testing.T) {
	t.Parallel()
	const letters = 50_000
	all := make([]span, letters)
	for i := range all {
		all[i] = span{text: "m", width: 10, glued: i > 0}
	}
	if widths := wordWidths(all); widths[0] != 10*letters || widths[letters-1] != 10 {
		t.Errorf("%v, %v", widths[0], widths[letters-1])
	}
}

// cut takes what fits, as trying each beginning does.
func TestCut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("imW.é\u0301漢字😀-x")
	for range 2000 {
		var word strings.Builder
		for range 1 + r.IntN(60) {
			word.WriteRune(letters[r.IntN(len(letters))])
		}
		s := span{text: word.String(), look: Look{Family: "Arial", Size: 10}}
		s.width = Typical{}.Width(s.text, s.look)
		limit := r.Float64() * s.width * 1.1
		want := 0
		for i, c := range s.text {
			end := i + utf8.RuneLen(c)
			if want > 0 && (Typical{}).Width(s.text[:end], s.look) > limit {
				break
			}
			want = end
		}
		head, tail := cut(Typical{}, s, limit)
		if len(head.text) != want || (tail == nil) != (want == len(s.text)) {
			t.Fatalf("%q at %v: %q, want %q", s.text, limit, head.text, s.text[:want])
		}
		if tail != nil && head.text+tail.text != s.text {
			t.Fatalf("%q + %q", head.text, tail.text)
		}
	}
}
