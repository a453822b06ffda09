package pdf_test

import (
	"strings"
	"testing"
)

// TestBandedRows: the areas of every other row have the columns of all rows, and a head spans columns.
func TestBandedRows(t *testing.T) {
	t.Parallel()
	const wide, high = 90.0, 20.0
	m := (&maker{}).page().area(72, 80, 72+wide, 100).area(72+wide, 80, 72+3*wide, 100)
	m.text(76, 94, regular, 10, "District").text(76+wide, 94, regular, 10, "Fiscal years")
	for r, row := range []string{"Charged|290|259", "Sentenced|217|197", "No term|287|242", "Months|148|107", "Years|37|45"} {
		top := 100 + high*float64(r)
		for c, text := range strings.Split(row, "|") {
			left := 72 + wide*float64(c)
			if r%2 == 0 {
				m.area(left, top, left+wide, top+high)
			} else if c == 0 {
				m.rule(left, top, left, top+high).rule(left+3*wide, top, left+3*wide, top+high)
			}
			m.text(left+4, top+14, regular, 10, text)
		}
	}
	assertBlocks(t, m, "table 1 District|Fiscal years / Charged|290|259 / Sentenced|217|197 / No term|287|242 / Months|148|107 / Years|37|45")
}

// TestBandedTable: every other row of many financial statements is in a colour, cell by cell, and lines end the columns of
// numbers. The other rows have the same columns.
func TestBandedTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	edges := []float64{72, 260, 330, 334, 400, 404, 470}
	rows := []string{
		"Automotive sales|18831|18582|53821", "Credits|739|554|2071", "Leasing|446|489|1380", "Storage|2376|1559|7025",
		"Services and other|2790|2166|7686", "Total revenues|25182|23350|71983", "Research|1039|1161|3264",
	}
	for r, row := range rows {
		top := 100 + 18*float64(r)
		if r%2 == 0 {
			for c := 0; c < len(edges)-1; c++ {
				if edges[c+1]-edges[c] > 10 {
					m.area(edges[c], top, edges[c+1], top+18)
				}
			}
		}
		for c := 2; c < len(edges); c += 2 {
			m.rule(edges[c], top, edges[c], top+18)
		}
		for c, text := range strings.Split(row, "|") {
			left := edges[0] + 4
			if c > 0 {
				left = edges[2*c] - 4 - 5.56*float64(len(text))
			}
			m.text(left, top+13, regular, 10, text)
		}
	}
	assertBlocks(t, m, "table 0 "+strings.Join(rows, " / "))
}

// One area in a colour behind the columns of amounts doesn't part them: with lines between rows only, the text does.
func TestAreaBehindSeveralColumns(t *testing.T) {
	t.Parallel()
	rows := []string{"Region|Day|Night|Standing", "East|26|19|57", "London|25|18|58", "Wales|27|20|54", "Scotland|28|21|61"}
	m := (&maker{}).page().area(192, 100, 432, 200)
	for r, row := range rows {
		top := 100 + 20*float64(r)
		m.rule(72, top, 432, top)
		for c, text := range strings.Split(row, "|") {
			m.text([]float64{76, 200, 280, 360}[c], top+14, regular, 10, text)
		}
	}
	m.rule(72, 200, 432, 200)
	assertBlocks(t, m, "table 1 "+strings.Join(rows, " / "))
}
