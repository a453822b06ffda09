package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// The lines of a program that are numbered are one listing, and no table.
func TestNumberedListing(t *testing.T) {
	t.Parallel()
	code := []string{"for crane in cranes:", "    if crane.free:", "", "        crane.lift(load)", "return load"}
	for _, gap := range []float64{14, 40} { // to the numbers
		m := (&maker{}).page().text(72, 60, bold, 14, "Lifting")
		y := m.lines(90, 90, 12, regular, 10, fullLine, nextLine) + 6
		for i, l := range code {
			number := fmt.Sprintf("%2d", i+8)
			indent := len(l) - len(strings.TrimLeft(l, " "))
			m.text(90-gap, y, mono, 6, number).text(90+5.4*float64(indent), y, mono, 9, l[indent:])
			y += 11
		}
		m.lines(90, y+8, 12, regular, 10, fullLine, nextLine)
		text := "paragraph " + fullLine + " " + nextLine
		assertBlocks(t, m, "heading 1 Lifting", text, "code 8 for crane in cranes:\n9     if crane.free:\n10\n"+
			"11         crane.lift(load)\n12 return load", text)
	}
}
