package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, regular, 10, "The table shows what was sold in the two years by each of the three branches we have.")
	for i, row := range [][]string{
		{"Branch", "2023", "2024"},
		{"North", "1,200", "1,350"},
		{"South and Isles", "980", "1,010"},
		{"West", "400", "395"},
	} {
		font := regular
		if i == 0 {
			font = bold
		}
		for j, c := range row {
			m.text(72+130*float64(j), 110+15*float64(i), font, 10, c)
		}
	}
	m.text(72, 190, regular, 10, "Table 1: Sales by branch.")
	doc := assertBlocks(
		t, m,
		"paragraph The table shows what was sold in the two years by each of the three branches we have.",
		"table 1 Branch|2023|2024 / North|1,200|1,350 / South and Isles|980|1,010 / West|400|395",
		"caption Table 1: Sales by branch.",
	)
	box := doc.Blocks[1].Box
	if box == nil || box.Left < 0.1 || box.Left > 0.13 || box.Top < 0.1 || box.Bottom > 0.22 || box.Right < 0.5 ||
		box.Right > 0.65 {
		t.Errorf("the table's box is %+v", box)
	}
}

// Cells of several lines are kept together by the order in which they were written.
func TestTableWithCellsOfSeveralLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := 100.0
	for _, row := range [][3][]string{
		{{"Term"}, {"Meaning"}, {"Since"}},
		{{"Lease"}, {"the right to work", "on a message"}, {"2019"}},
		{{"Fence"}, {"a number that", "only ever rises"}, {"2021"}},
		{{"Drain"}, {"stop taking work"}, {"2022"}},
	} {
		lines := 0
		for j, c := range row {
			m.lines(72+150*float64(j), y, 12, regular, 10, c...)
			lines = max(lines, len(c))
		}
		y += 12*float64(lines) + 6
	}
	assertBlocks(t, m, "table 1 Term|Meaning|Since / Lease|the right to work on a message|2019 / Fence|a number "+
		"that only ever rises|2021 / Drain|stop taking work|2022")
}

// A word that is parted at the end of a line is one word in a cell, too, with and without lines around the table.
func TestHyphensInCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for _, top := range []float64{100, 400} {
		y := top
		for _, row := range [][3][]string{
			{{"Term"}, {"Meaning"}, {"Since"}},
			{{"Lease"}, {"the right to work on a mes-", "sage, or up-to-", "date"}, {"2019"}},
			{{"Fence"}, {"a number that", "only ever rises"}, {"2020-", "2021"}},
			{{"Drain"}, {"stop taking work"}, {"2022"}},
		} {
			lines := 0
			for j, c := range row {
				m.lines(72+150*float64(j), y, 12, regular, 10, c...)
				lines = max(lines, len(c))
			}
			y += 12*float64(lines) + 6
		}
	}
	m.rule(70, 385, 450, 385).rule(70, 407, 450, 407).rule(70, 506, 450, 506)
	const want = "table 1 Term|Meaning|Since / Lease|the right to work on a message, or up-to-date|2019 / Fence|a number " +
		"that only ever rises|2020-2021 / Drain|stop taking work|2022"
	assertBlocks(t, m, want, want)
}

// Columns so close that a gap between them looks like a space.
func TestTightTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := 100.0
	for _, row := range [][2][]string{
		{{"A first"}, {"A second"}},
		{{"the right to work on", "a message of ours"}, {"and what it means", "to hold it long"}},
		{{"a number that only", "ever goes up so far"}, {"or else it is void", "and of no use at"}},
		{{"to stop taking work", "until all is at rest"}, {"which may take up", "to five minutes if"}},
	} {
		for j, c := range row {
			m.lines([]float64{72, 166}[j], y, 12, regular, 10, c...)
		}
		y += 12*float64(len(row[0])) + 6
	}
	assertBlocks(t, m, "table 0 A first|A second / "+
		"the right to work on a message of ours|and what it means to hold it long / "+
		"a number that only ever goes up so far|or else it is void and of no use at / "+
		"to stop taking work until all is at rest|which may take up to five minutes if")
}

// The header row that a table repeats on each page is right above its rows: it is not a running head.
func TestRepeatedTableHeaderStays(t *testing.T) {
	t.Parallel()
	m := &maker{}
	for p := range 3 {
		m.page()
		for i := range 20 {
			row := []string{fmt.Sprintf("Item %c%c", 'a'+p, 'a'+i), fmt.Sprint(100*p + i), fmt.Sprint(7 * i)}
			if i == 0 {
				row = []string{"Name", "Number", "Weight"}
			}
			for j, c := range row {
				m.text(72+130*float64(j), 60+15*float64(i), regular, 10, c)
			}
		}
	}
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(strings.Join(blocksOf(doc), " "), "Name|Number|Weight"); got != 3 {
		t.Errorf("got the header row %d times, want 3: %v", got, blocksOf(doc))
	}
}

// A column of descriptions of several lines, written from right to left.
func TestTableWithDescriptions(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	var want []string
	for i, row := range []string{
		"D001|05/03|TRAVEL CARD|920.68", "D002|05/24|TRAVEL CARD|907.96", "D003|05/28|SENATOR CARD|737.94",
		"D004|06/13|TRAVEL CARD|903.90", "D005|07/10|TRAVEL CARD|798.90", "D006|07/11|TRAVEL CARD|521.00",
	} {
		cells, y := strings.Split(row, "|"), 100+24*float64(i)
		m.text(500, y, regular, 8, cells[3]).text(260, y, regular, 8, "STAFF TRANSPORTATION")
		m.text(260, y+10, regular, 8, "FARE FOR E J FROM K C TO W D C AND BACK AGAIN")
		for c, x := range []float64{72, 120, 160} {
			m.text(x, y, regular, 8, cells[c])
		}
		want = append(want, strings.Join(cells[:3], "|")+"|STAFF TRANSPORTATION FARE FOR E J FROM K C TO W D C AND BACK AGAIN|"+cells[3])
	}
	assertBlocks(t, m, "table 0 "+strings.Join(want, " / "))
}

// A dot leader that leads from a label to several amounts is no entry of a table of contents.
func TestTableWithLeaders(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	rows := []string{"Share|First|Second|Third", "0.99|800|880|960", "0.95|160|176|192", "0.90|80|88|96", "0.85|53|59|64"}
	for i, row := range rows {
		cells, y := strings.Split(row, "|"), 100+14*float64(i)
		if i > 0 {
			m.text(72, y, mono, 10, cells[0]+" ...............")
		} else {
			m.text(72, y, mono, 10, cells[0])
		}
		for c, x := range []float64{198, 246, 294} {
			m.text(x, y, mono, 10, cells[c+1])
		}
	}
	assertBlocks(t, m, "table 1 "+strings.Join(rows, " / "))
}
