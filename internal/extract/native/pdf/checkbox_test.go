package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSquareCellIsNoBoxToTick: a cell as small as a box to tick belongs to the table whose other lines it touches.
func TestSquareCellIsNoBoxToTick(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	edges := []float64{72, 86, 196.5, 300}
	top := 100.0
	for _, row := range []string{"1|The cables with their many/and large plugs|12", "2|The cables with their many|3", "3|The cables with their many/and small clamps|7"} {
		high := 14 * float64(1+strings.Count(row, "/"))
		for c, text := range strings.Split(row, "|") {
			fmt.Fprintf(m.pages[0], "0.5 w %g %g %g %g re S\n", edges[c], pageHeight-top-high, edges[c+1]-edges[c], high)
			for i, line := range strings.Split(text, "/") {
				m.text(edges[c]+3, top+10+12*float64(i), regular, 9, line)
			}
		}
		top += high
	}
	assertBlocks(t, m, "table 0 1|The cables with their many and large plugs|12 / 2|The cables with their many|3 / "+
		"3|The cables with their many and small clamps|7")
}
