package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func extracted(t *testing.T, m *maker) *extract.Document {
	t.Helper()
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// rule draws a line on the last page, in points from the top left.
func (m *maker) rule(x0, y0, x1, y1 float64) *maker {
	fmt.Fprintf(m.pages[len(m.pages)-1], "0.5 w %g %g m %g %g l S\n", x0, pageHeight-y0, x1, pageHeight-y1)
	return m
}

// area fills a rectangle in grey.
func (m *maker) area(x0, y0, x1, y1 float64) *maker {
	fmt.Fprintf(m.pages[len(m.pages)-1], "q 0.8 g %g %g %g %g re f Q\n", x0, pageHeight-y1, x1-x0, y1-y0)
	return m
}

// grid draws the lines of a table with rows of 20 points and columns of 120, and writes the cells. A cell may have
// lines of text, separated by "/"; "<" and "^" belong to the cell to their left or above.
func (m *maker) grid(x, y float64, rows ...string) *maker {
	const wide, high, leading = 120.0, 34.0, 12.0
	for r, row := range rows {
		for c, text := range strings.Split(row, "|") {
			left, top := x+wide*float64(c), y+high*float64(r)
			if text != "^" {
				m.rule(left, top, left+wide, top)
			} else {
				text = ""
			}
			if text != "<" {
				m.rule(left, top, left, top+high)
			} else {
				text = ""
			}
			for i, line := range strings.Split(text, "/") {
				if line != "" {
					m.text(left+4, top+13+leading*float64(i), regular, 10, line)
				}
			}
			if r == len(rows)-1 {
				m.rule(left, top+high, left+wide, top+high)
			}
		}
		right := x + wide*float64(strings.Count(row, "|")+1)
		m.rule(right, y+high*float64(r), right, y+high*float64(r+1))
	}
	return m
}

// Lines decide the cells, whatever the text looks like: cells with several lines, empty ones, and text of two cells
// that nearly touches.
func TestRuledTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(72, 100, "Site|Depth|Remarks", "North shore|12|a first line/and a second",
		"||Total of the column X", "South|7|the column X again")
	assertBlocks(t, m, "table 0 Site|Depth|Remarks / North shore|12|a first line and a second / "+
		"||Total of the column X / South|7|the column X again")
}

func TestMergedCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(60, 100, "Site|Depth|<|Year", "^|from|to|^", "North|1|2|2019", "^|3|4|2020", "West|5|6|<")
	doc := assertBlocks(t, m, "table 2 Site|Depth|Year / from|to / North|1|2|2019 / 3|4|2020 / West|5|6")
	rows := doc.Blocks[0].Table.Rows
	if rows[0][0].RowSpan != 2 || rows[0][1].ColSpan != 2 || rows[0][2].RowSpan != 2 || rows[2][0].RowSpan != 2 ||
		rows[4][2].ColSpan != 2 {
		t.Errorf("%+v", rows)
	}
}

func TestTablesBesideEachOther(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(40, 100, "A|B", "1|2").grid(310, 100, "C|D", "3|4", "5|6")
	assertBlocks(t, m, "table 1 A|B / 1|2", "table 1 C|D / 3|4 / 5|6")
}

// A table goes on on the next page: its head is not a row there, and a row that the page cut is one row.
func TestTableOverPages(t *testing.T) {
	t.Parallel()
	m := &maker{}
	m.page().text(72, 60, regular, 10, "Before the table there is a sentence that is not a part of it at all.")
	first := []string{"Site|Depth|Remarks"}
	for i := range 18 {
		first = append(first, fmt.Sprintf("Site %d|%d|none", i, 10*i))
	}
	m.grid(72, 100, append(first, "Last|190|it goes on and/on over the")...)
	m.page().grid(72, 100, "Site|Depth|Remarks", "||end of the page", "Next|200|none")
	m.text(72, 300, regular, 10, "After the table there is another sentence that is not a part of it at all.")
	doc := extracted(t, m)
	if len(doc.Blocks) != 4 {
		t.Fatalf("%d blocks", len(doc.Blocks))
	}
	a, b := doc.Blocks[1].Table, doc.Blocks[2].Table
	if a == nil || b == nil || a.Continued || !b.Continued || a.Headers != 1 || b.Headers != 1 ||
		len(a.Rows) != 20 || len(b.Rows) != 2 {
		t.Fatalf("%+v and %+v", a, b)
	}
	if got := a.Rows[19][2].Text; got != "it goes on and on over the end of the page" {
		t.Errorf("the cell that the page cuts is %q", got)
	}
	if b.Rows[0][0].Text != "Site" || b.Rows[1][0].Text != "Next" {
		t.Errorf("the rest is %+v", b.Rows)
	}
}

// Lines between rows only: the columns are those of the text.
func TestStripedTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.rule(72, 100, 400, 100).rule(72, 120, 400, 120).rule(72, 190, 400, 190)
	for i, row := range []string{"Site|Depth|Year", "North|1|2019", "South|2|2020", "West|3|2021"} {
		for c, text := range strings.Split(row, "|") {
			m.text(76+120*float64(c), 114+20*float64(i), regular, 10, text)
		}
	}
	assertBlocks(t, m, "table 1 Site|Depth|Year / North|1|2019 / South|2|2020 / West|3|2021")
}

// The head has a colour and no line below it.
func TestAreasAreCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().area(72, 80, 192, 100).area(192, 80, 312, 100).grid(72, 100, "North|1", "South|2")
	m.text(76, 93, regular, 10, "Site").text(196, 93, regular, 10, "Depth")
	assertBlocks(t, m, "table 1 Site|Depth / North|1 / South|2")
}

// What is drawn for other reasons makes no table: axes, a box around text, boxes with arrows, underlined words.
func TestDrawingsAreNoTables(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.rule(100, 100, 100, 300).rule(90, 290, 400, 290) // axes with marks
	for i := range 5 {
		m.rule(96, 120+30*float64(i), 104, 120+30*float64(i))
		m.text(70, 123+30*float64(i), regular, 9, fmt.Sprint(i))
	}
	m.rule(72, 330, 400, 330).rule(72, 390, 400, 390).rule(72, 330, 72, 390).rule(400, 330, 400, 390)
	m.lines(80, 345, 12, regular, 10, "A box around a paragraph of text, which", "stays a paragraph, as there is one cell",
		"only, and no row or column of others.")
	m.rule(72, 500, 140, 500).rule(72, 520, 140, 520).rule(72, 500, 72, 520).rule(140, 500, 140, 520)
	m.rule(140, 510, 200, 510)
	m.rule(200, 500, 280, 500).rule(200, 520, 280, 520).rule(200, 500, 200, 520).rule(280, 500, 280, 520)
	m.text(80, 513, regular, 10, "begin").text(210, 513, regular, 10, "end")
	for _, b := range extracted(t, m).Blocks {
		if b.Table != nil {
			t.Errorf("%+v", b.Table.Rows)
		}
	}
}

// A page that is turned has its lines where its text is.
func TestRuledTableOnTurnedPage(t *testing.T) {
	t.Parallel()
	for _, turn := range []int{90, 270} {
		m := (&maker{rotate: turn}).page().grid(72, 100, "Site|Depth|Remarks", "North shore|12|some", "South shore|7|none")
		found := 0
		for _, b := range extracted(t, m).Blocks {
			if b.Table != nil && len(b.Table.Rows) == 3 && b.Table.Rows[1][0].Text == "North shore" &&
				b.Table.Rows[2][2].Text == "none" {
				found++
			}
		}
		if found != 1 {
			t.Errorf("turned by %d: %d tables", turn, found)
		}
	}
}

// Tables at the same place of several pages are no running heads.
func TestTablesAtTheSamePlace(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for i := range 4 {
		head := fmt.Sprintf("Section %c of the book", 'A'+i)
		m.page().text(72, 80, regular, 10, head+" begins with a sentence.").
			grid(72, 120, "Site|Depth|Remarks", fmt.Sprintf("North|%d|none", i)).
			text(72, 800, regular, 10, "The book of the harbour")
		m.text(72, 400, regular, 10, "The page ends with another sentence.")
		want = append(want, "paragraph "+head+" begins with a sentence.",
			fmt.Sprintf("table 1 Site|Depth|Remarks / North|%d|none", i), "paragraph The page ends with another sentence.")
	}
	assertBlocks(t, m, want...)
}

// Word shades the lines of a paragraph one by one, also within a cell, where they are no rows.
func TestShadedLinesOfACell(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for _, y := range []float64{100, 134, 168} {
		m.area(73, y+1, 191, y+33).area(78, y+1, 187, y+17).area(78, y+17, 187, y+33)
	}
	m.grid(72, 100, "Name of the/standard|Cast billets", "Number of the/standard|20300", "Issued by the/institute|yes")
	assertBlocks(t, m, "table 0 Name of the standard|Cast billets / Number of the standard|20300 / Issued by the institute|yes")
}

// Rows that areas make within drawn columns stay rows.
func TestShadedRowsWithinDrawnColumns(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.area(72, 100, 312, 116).area(72, 132, 312, 148)
	m.rule(72, 100, 312, 100).rule(72, 116, 312, 116).rule(72, 164, 312, 164)
	for _, x := range []float64{72, 192, 312} {
		m.rule(x, 100, x, 164)
	}
	for i, row := range []string{"Site|Depth", "North|12", "South|7", "West|5"} {
		for c, text := range strings.Split(row, "|") {
			m.text(76+120*float64(c), 112+16*float64(i), regular, 10, text)
		}
	}
	assertBlocks(t, m, "table 1 Site|Depth / North|12 / South|7 / West|5")
}

// A box to tick within a cell is no cell.
func TestBoxesToTickWithinCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.grid(72, 100, "Standard|Cast billets", "Is it compulsory|    yes       no", "Issued by|the institute")
	for _, x := range []float64{198, 240} {
		m.rule(x, 137, x+11, 137).rule(x, 148, x+11, 148).rule(x, 137, x, 148).rule(x+11, 137, x+11, 148)
	}
	m.area(240, 137, 251, 148)
	assertBlocks(t, m, "table 0 Standard|Cast billets / Is it compulsory|yes no / Issued by|the institute")
}

// Areas that end where the rows beside them do are cells, also without lines between them.
func TestAreasInRowsAreCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(72, 100, "|Depth", "^|12", "^|7")
	for i, text := range []string{"Site", "North", "South"} {
		top := 100 + 34*float64(i)
		m.area(72, top, 192, top+34).text(76, top+13, regular, 10, text)
	}
	assertBlocks(t, m, "table 1 Site|Depth / North|12 / South|7")
}

// Word paints the text of a shaded cell again. The cells of a head without lines between them are those that it paints.
func TestShadedTextOfShadedCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(72, 134, "North|12|none", "South|7|some")
	for i, head := range []string{"Site", "Depth", "Remarks"} {
		left := 72 + 120*float64(i)
		m.area(left, 100, left+120, 134).area(left+5.4, 100, left+114.6, 113).area(left+5.4, 113, left+114.6, 126)
		m.text(left+6, 111, regular, 10, head).text(left+6, 124, regular, 10, "of all")
	}
	m.rule(72, 100, 432, 100).rule(72, 100, 72, 134).rule(432, 100, 432, 134)
	assertBlocks(t, m, "table 1 Site of all|Depth of all|Remarks of all / North|12|none / South|7|some")
}

// The rows of ruled columns have no lines between them. Labels that dot leaders fill up to their column are rows, not text.
func TestRuledColumnsWithLeaders(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(72, 100, "Group of people|Number|Percent")
	var want strings.Builder
	want.WriteString("table 1 Group of people|Number|Percent")
	for i, row := range []string{"All of the ages|291|100", "With a disability|54|19", "Needing assistance|11|4", "Not needing any|43|15"} {
		cells := strings.Split(row, "|")
		y := 146 + 14*float64(i)
		m.text(76, y, regular, 10, cells[0]+strings.Repeat(" .", (110-5*len(cells[0]))/6))
		m.text(196, y, regular, 10, cells[1]).text(316, y, regular, 10, cells[2])
		want.WriteString(" / " + row)
	}
	m.rule(72, 200, 432, 200)
	for _, x := range []float64{72, 192, 312, 432} {
		m.rule(x, 134, x, 200)
	}
	assertBlocks(t, m, want.String())
}
