package pdf_test

import (
	"strings"
	"testing"
)

// Running text in two columns between two lines is no table, though its lines are side by side.
func TestColumnsBetweenLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().rule(60, 90, 530, 90).rule(60, 420, 530, 420)
	one, two, three := prose("first", 9, 8), prose("second", 14, 6), prose("third", 22, 7)
	m.lines(60, 110, 12, regular, 10, one...)
	m.lines(60, 230, 12, regular, 10, two...)
	m.lines(310, 110, 12, regular, 10, three...)
	assertBlocks(t, m, paragraphOf(one), paragraphOf(two), paragraphOf(three))
}

// A table between two lines whose cells are text has rows that end with a sentence or begin with a capital.
func TestTableOfProseBetweenLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().rule(60, 90, 530, 90).rule(60, 112, 530, 112).rule(60, 300, 530, 300)
	m.text(64, 105, regular, 10, "Words").text(310, 105, regular, 10, "Meanings")
	var want strings.Builder
	want.WriteString("table 0 Words|Meanings")
	for i, name := range []string{"lease", "fence", "drain"} {
		term, meaning := prose(name, 4, 6), prose("means"+name, 4, 4)
		m.lines(64, 130+56*float64(i), 12, regular, 10, term...)
		m.lines(310, 130+56*float64(i), 12, regular, 10, meaning...)
		want.WriteString(" / " + paragraphOf(term)[len("paragraph "):] + "|" + paragraphOf(meaning)[len("paragraph "):])
	}
	assertBlocks(t, m, want.String())
}
