package pdf_test

import "testing"

// Sections whose numbers are in the margin are no table of numbers and texts.
func TestNumbersOfSectionsApart(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	var want []string
	y := 100.0
	for _, head := range []struct{ level, number, title string }{
		{"1", "2", "Cranes and their loads"}, {"2", "2.1", "Loads"}, {"2", "2.2", "Ropes"},
	} {
		size := 14.0
		if head.level == "2" {
			size = 12
		}
		m.text(72, y, bold, size, head.number).text(112, y, bold, size, head.title)
		y = m.lines(112, y+20, 12, regular, 10, fullLine, nextLine) + 14
		want = append(want, "heading "+head.level+" "+head.number+" "+head.title, "paragraph "+fullLine+" "+nextLine)
	}
	assertBlocks(t, m, want...)
}

// A section that begins right below a table is not its last row.
func TestSectionBelowATable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := 100.0
	for _, row := range [][2]string{{"1200", "tons of gravel"}, {"1350", "tons of sand"}, {"980", "tons of salt"}} {
		m.text(72, y, regular, 10, row[0]).text(112, y, regular, 10, row[1])
		y += 14
	}
	m.text(72, y+8, bold, 12, "1.2").text(112, y+8, bold, 12, "Cranes")
	m.lines(72, y+24, 12, regular, 10, fullLine, nextLine)
	assertBlocks(t, m, "table 0 1200|tons of gravel / 1350|tons of sand / 980|tons of salt", "heading 1 1.2 Cranes",
		"paragraph "+fullLine+" "+nextLine)
}

// The bold names of groups within a table stay its rows.
func TestGroupsOfATable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := 100.0
	for _, row := range [][]string{
		{"1", "Earthworks"},
		{"1.1", "Excavation", "20", "300"},
		{"1.2", "Backfill", "15", "120"},
		{"2", "Masonry"},
		{"2.1", "Walls", "70", "900"},
		{"2.2", "Arches", "12", "450"},
	} {
		font := regular
		if len(row) == 2 {
			font = bold
		}
		for i, c := range row {
			m.text([]float64{72, 112, 250, 320}[i], y, font, 10, c)
		}
		y += 15
	}
	assertBlocks(t, m, "table 1 1|Earthworks|| / 1.1|Excavation|20|300 / 1.2|Backfill|15|120 / 2|Masonry|| / "+
		"2.1|Walls|70|900 / 2.2|Arches|12|450")
}
