package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// prose is a unique paragraph of full lines.
func prose(name string, lines, words int) []string {
	out := make([]string, lines)
	for i := range out {
		out[i] = strings.TrimSpace(strings.Repeat(name+" ", words))
	}
	out[0] = strings.ToUpper(name[:1]) + out[0][1:]
	out[lines-1] += "."
	return out
}

func paragraphOf(lines []string) string { return "paragraph " + strings.Join(lines, " ") }

// Running heads that change from page to page contain the page number, alternately left or right, in Roman
// numerals before the first chapter; footers alternate between left and right.
func TestChangingRunningHeads(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]func(page int) string{
		"arabic": func(page int) string { return fmt.Sprint(12 + page) },
		"roman":  func(page int) string { return []string{"", "viii", "ix", "x", "xi", "xii", "xiii"}[page] },
	} {
		m := &maker{}
		var want []string
		for i, title := range []string{
			"Introduction", "The Problem", "A Method", "Its Results", "Discussion",
			"The End",
		} {
			m.page()
			foot := 350.0
			if i%2 == 0 {
				m.text(72, 40, regular, 9, number(i+1)).text(460, 40, italic, 9, title)
			} else {
				m.text(72, 40, italic, 9, title).text(515, 40, regular, 9, number(i+1))
				foot = 72
			}
			text := prose(fmt.Sprintf("%s%c", "word", 'a'+i), 6, 12)
			m.lines(72, 80, 13, regular, 10, text...)
			m.text(foot, 800, regular, 8, "Journal of Important Matters, Vol. 3")
			want = append(want, paragraphOf(text))
		}
		t.Run(name, func(t *testing.T) { t.Parallel(); assertBlocks(t, m, want...) })
	}
}

// A number in the first line of a page is not a page number if other pages don't continue the count.
func TestNumbersAtTheTopStay(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for i, n := range []string{"17", "4", "90"} {
		name := string(rune('A' + i))
		m.page().text(72, 150, regular, 10, "Count of "+name).text(300, 150, regular, 10, n)
		m.text(72, 190, regular, 10, "It was counted in "+name+" by hand.")
		want = append(want, "paragraph Count of "+name+" "+n, "paragraph It was counted in "+name+" by hand.")
	}
	assertBlocks(t, m, want...)
}

// A table across both columns of a page is one table, even if the page's gutter is between two columns of the table.
func TestTableAcrossColumns(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	above, beside, below, last := prose("above", 12, 7), prose("beside", 12, 7), prose("below", 12, 7),
		prose("last", 12, 9)
	m.lines(60, 80, 12, regular, 10, above...)
	m.lines(310, 80, 12, regular, 10, beside...)
	for i, row := range [][]string{
		{"Branch", "2022", "2023", "2024"},
		{"North", "1,100", "1,200", "1,350"},
		{"South", "900", "980", "1,010"},
		{"West", "410", "400", "395"},
	} {
		for j, c := range row {
			m.text(100+110*float64(j), 260+14*float64(i), regular, 10, c)
		}
	}
	m.text(100, 330, regular, 9, "Table 2. Sales by branch and year, in thousands.")
	m.lines(60, 370, 12, regular, 10, below...)
	m.lines(310, 370, 12, regular, 10, last...)
	assertBlocks(
		t, m, paragraphOf(above), paragraphOf(beside),
		"table 0 Branch|2022|2023|2024 / North|1,100|1,200|1,350 / South|900|980|1,010 / West|410|400|395",
		"caption Table 2. Sales by branch and year, in thousands.", paragraphOf(below), paragraphOf(last),
	)
}

// Cells of prose: the lines of the longer cell continue below the shorter one.
func TestTableOfProse(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	var rows []string
	y := 100.0
	for i, name := range []string{"lease", "fence", "drain", "claim"} {
		term, meaning := prose(name, 1+i%2, 3), prose("means"+name, 4, 6)
		m.lines(76, y, 12, regular, 10, term...)
		m.lines(196, y, 12, regular, 10, meaning...)
		rows = append(rows, strings.Join(term, " ")+"|"+strings.Join(meaning, " "))
		y += 56
	}
	assertBlocks(t, m, "table 0 "+strings.Join(rows, " / "))
}

func TestFootnote(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	text := prose("text", 5, 14)
	m.lines(72, 80, 13, regular, 10, text...)
	m.text(72, 760, regular, 6, "1").text(77, 764, regular, 8,
		"The note says what it says, in small print, for those who")
	m.text(72, 774, regular, 8, "care to read it to its end.")
	assertBlocks(t, m, paragraphOf(text),
		"paragraph 1 The note says what it says, in small print, for those who care to "+
			"read it to its end.")
}

// Rotated pages are read as if upright; boxes are where the text is shown.
func TestTurnedPages(t *testing.T) {
	t.Parallel()
	left, right := prose("left", 12, 8), prose("right", 12, 7)
	for rotation, top := range map[int]bool{0: true, 90: false, 180: false, 270: false} {
		m := &maker{rotate: rotation}
		m.page().text(72, 80, bold, 16, "A heading over it")
		m.lines(60, 110, 12, regular, 10, left...)
		m.lines(310, 110, 12, regular, 10, right...)
		t.Run(fmt.Sprint(rotation), func(t *testing.T) {
			t.Parallel()
			doc := assertBlocks(t, m, "heading 1 A heading over it", paragraphOf(left), paragraphOf(right))
			box := doc.Blocks[0].Box
			if box == nil || box.Left >= box.Right || box.Top >= box.Bottom ||
				(box.Top < 0.12 && box.Left < 0.15) != top {
				t.Errorf("the heading's box is %+v", box)
			}
		})
	}
}

// Text that is not drawn is not part of the document.
func TestInvisibleText(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	text := prose("seen", 5, 14)
	m.lines(72, 80, 13, regular, 10, text...)
	m.pages[0].WriteString("3 Tr\n")
	m.lines(72, 300, 13, regular, 10, prose("unseen", 3, 10)...)
	m.pages[0].WriteString("0 Tr\n")
	m.text(72, 500, regular, 10, "The end is seen, too.")
	assertBlocks(t, m, paragraphOf(text), "paragraph The end is seen, too.")
}
