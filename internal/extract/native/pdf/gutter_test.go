package pdf_test

import (
	"strings"
	"testing"
)

// A title above two columns, of which a little more is above the second one, is not part of that column. The short last
// lines of the first column's paragraphs all end at another x, which all its other lines cross.
func TestTitleAboveTheSecondColumn(t *testing.T) {
	t.Parallel()
	const line, last = "The harbour master keeps a record of every ship", "of the year."
	m := (&maker{}).page().text(250, 60, bold, 18, "On mountain roads")
	var left, right []string
	for i := range 4 {
		y := 100 + 60*float64(i)
		m.lines(56, y, 12, regular, 10, line, line, line, last)
		left = append(left, "paragraph "+strings.Join([]string{line, line, line, last}, " "))
	}
	for i := range 4 {
		y := 100 + 60*float64(i)
		m.lines(310, y, 12, regular, 10, line, line, line, line+".")
		right = append(right, "paragraph "+strings.Join([]string{line, line, line, line + "."}, " "))
	}
	assertBlocks(t, m, append([]string{"heading 1 On mountain roads"}, append(left, right...)...)...)
}
