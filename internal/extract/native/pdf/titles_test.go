package pdf_test

import (
	"strings"
	"testing"
)

// tableRows writes rows of cells at the columns, and returns the y of the next row.
func (m *maker) tableRows(y, leading, size float64, columns []float64, rows ...string) float64 {
	for _, row := range rows {
		for i, text := range strings.Split(row, "|") {
			if text != "" {
				m.text(columns[i], y, regular, size, text)
			}
		}
		y += leading
	}
	return y
}

// Tables with titles in larger letters are close to each other and have different columns.
func TestTitlesPartTables(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := m.tableRows(100, 12, 8, []float64{72, 200, 300, 420}, "Start|Shows|Gross|Net", "December|48|12,500|11,250", "January|12|1,000|900")
	y = m.text(72, y+6, bold, 10, "Representatives").tableRows(y+20, 12, 8, []float64{72, 160, 250},
		"Name|Territory|Region", "Sarah Johnson|Metropolis|North", "Ann Miller|Gotham|East")
	m.text(72, y+6, bold, 10, "Schedule").tableRows(y+20, 12, 8, []float64{72, 110, 190, 340, 400, 450},
		"Line|Screen|Title|Time|Days|Rate", "1|First|Holiday|19:00|daily|250", "2|Second|Wonderland|16:30|daily|150")
	assertBlocks(t, m, "table 1 Start|Shows|Gross|Net / December|48|12,500|11,250 / January|12|1,000|900",
		"heading 1 Representatives", "table 0 Name|Territory|Region / Sarah Johnson|Metropolis|North / Ann Miller|Gotham|East",
		"heading 1 Schedule", "table 1 Line|Screen|Title|Time|Days|Rate / 1|First|Holiday|19:00|daily|250 / "+
			"2|Second|Wonderland|16:30|daily|150")
}

// Titles of groups whose rows are too few for tables of their own are rows, also those of larger groups after them.
func TestTitlesOfSmallGroups(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	columns := []float64{72, 300}
	y := m.tableRows(100, 14, 10, columns, "Dish|Price")
	for _, group := range [][]string{
		{"Starters", "Onion soup|4.50", "Garlic bread|2.80"},
		{"Mains", "Fried fish|12.40", "Lamb stew|11.20", "Pea risotto|9.90"},
		{"Sweets", "Apple cake|5.10", "Ice cream|3.70", "Rice pudding|3.90"},
	} {
		m.text(72, y, regular, 12, group[0])
		y = m.tableRows(y+14, 14, 10, columns, group[1:]...)
	}
	assertBlocks(t, m, "table 1 Dish|Price / Starters| / Onion soup|4.50 / Garlic bread|2.80 / Mains| / Fried fish|12.40 / "+
		"Lamb stew|11.20 / Pea risotto|9.90 / Sweets| / Apple cake|5.10 / Ice cream|3.70 / Rice pudding|3.90")
}

// A head that is longer than all cells below it has its own column, also if the middle between the cells is within its text.
func TestLongHeads(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.tableRows(100, 16, 10, []float64{72, 170, 260, 350}, "Code of product|Location|Expected|Status", "S-88|A-12|450|fine",
		"S-92|B-07|780|fine", "S-45|C-15|180|fine", "S-77|D-22|920|late", "S-12|A-08|935|late", "S-13|A-09|936|late",
		"S-14|A-10|937|late", "S-15|A-11|938|late")
	assertBlocks(t, m, "table 1 Code of product|Location|Expected|Status / S-88|A-12|450|fine / S-92|B-07|780|fine / "+
		"S-45|C-15|180|fine / S-77|D-22|920|late / S-12|A-08|935|late / S-13|A-09|936|late / S-14|A-10|937|late / S-15|A-11|938|late")
}
