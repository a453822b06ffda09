package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// placed returns a line of words 10 points high at "left:text", as lineOf does, below others.
func placed(top float64, bold bool, places ...string) line {
	words := lineOf(places...).words()
	for i := range words {
		words[i].top, words[i].bottom, words[i].bold = top, top+12, bold
	}
	l := line{segments: []segment{newSegment(words)}}
	l.box = l.segments[0].box
	l.collect()
	return l
}

// TestCostOfStrips: a page of headings, each of which ends what could be a table, costs as much for each line as a shorter
// one. Allocations tell: each look at a line takes some.
func TestCostOfStrips(t *testing.T) { // not parallel: allocations are counted
	perLine := func(groups int) float64 {
		var lines []line
		for i := range groups {
			top := 39 * float64(i)
			lines = append(lines, placed(top, false, "0:word", "60:word"), placed(top+13, true, "0:1.1", "60:Title"),
				placed(top+26, false, "60:word"))
		}
		return testing.AllocsPerRun(1, func() { strips(nil, lines) }) / float64(len(lines))
	}
	if few, many := perLine(40), perLine(320); many > 2*few {
		t.Errorf("%.0f allocations for each line of a short page, %.0f of a long one", few, many)
	}
}

// spelledAt returns the words of a text from a left edge on, as lineOf takes them.
func spelledAt(left int, text string) (places []string) {
	for w := range strings.FieldsSeq(text) {
		places = append(places, fmt.Sprintf("%d:%s", left, w))
		left += 5*len(w) + 4
	}
	return places
}

// TestNoGrid: lines with something beside them that are no table, though their boxes overlap or dots lead from their first words.
func TestNoGrid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		about string
		row   func(i int) []string
	}{
		{"running text beside the numbers of its lines", func(i int) []string {
			return append(spelledAt(0, "of which the harbour and its cranes are told"), fmt.Sprintf("260:%d", i+1))
		}},
		{"running text beside amounts", func(i int) []string {
			return append(spelledAt(0, "of which the harbour and its cranes are told"), fmt.Sprintf("260:%d", 7*i))
		}},
		{"entries beside the numbers of their lines", func(i int) []string {
			return append(spelledAt(0, "Harbour"+strings.Repeat("s", i%3)), fmt.Sprintf("260:%d", i+1))
		}},
		{"running text beside the numbers of its lines, which are apart", func(i int) []string {
			return append(spelledAt(0, "of which the harbour and its cranes are told"), fmt.Sprintf("260:%d", i+1))
		}},
		{"entries above more numbers of lines, which are apart", func(i int) []string {
			if i > 6 {
				return []string{fmt.Sprintf("260:%d", i+1)}
			}
			return append(spelledAt(0, "Harbour"+strings.Repeat("s", i%3)), fmt.Sprintf("260:%d", i+1))
		}},
		{"the axes of a chart", func(i int) []string {
			return []string{fmt.Sprintf("0:%d%%", 90-10*i), fmt.Sprintf("260:%d%%", 90-10*i)}
		}},
		{"a screen", func(i int) []string {
			return append(spelledAt(0, "Harbour .......")[:2], "120:often", fmt.Sprintf("260:%d", 7*i))
		}},
	} {
		var lines []line
		leading := 9.0
		if strings.HasSuffix(tt.about, "apart") {
			leading = 14
		}
		for i := range 9 {
			lines = append(lines, placed(leading*float64(i), false, tt.row(i)...))
		}
		if table := grid(nil, lines, len(lines)); table != nil {
			t.Errorf("%s: got %v", tt.about, table.Rows)
		}
	}
}

// TestGridOfNumbers: a column that counts is part of a table if each of its rows has a name.
func TestGridOfNumbers(t *testing.T) {
	t.Parallel()
	var lines []line
	for i := range 9 {
		lines = append(lines, placed(14*float64(i), false, "0:Harbour"+strings.Repeat("s", i%3), fmt.Sprintf("260:%d", i+1)))
	}
	if grid(nil, lines, len(lines)) == nil {
		t.Error("got no table")
	}
}
