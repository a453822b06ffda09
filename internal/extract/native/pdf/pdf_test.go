package pdf_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// blocksOf returns one line for each block: kind, level or marker, text.
func blocksOf(doc *extract.Document) []string {
	var out []string
	for _, b := range doc.Blocks {
		switch b.Kind {
		case extract.TableKind:
			var rows []string
			for _, r := range b.Table.Rows {
				var cells []string
				for _, c := range r {
					cells = append(cells, c.Text)
				}
				rows = append(rows, strings.Join(cells, "|"))
			}
			out = append(out, fmt.Sprintf("table %d %s", b.Table.Headers, strings.Join(rows, " / ")))
		case extract.Heading:
			out = append(out, fmt.Sprintf("heading %d %s", b.Level, b.Text))
		case extract.ListItem:
			out = append(out, fmt.Sprintf("item %d %s %s", b.Level, b.Marker, b.Text))
		default:
			out = append(out, string(b.Kind)+" "+b.Text)
		}
	}
	return out
}

func assertBlocks(t *testing.T, m *maker, want ...string) *extract.Document {
	t.Helper()
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	got := blocksOf(doc)
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("block %d\n got %q\nwant %q", i, g, w)
		}
	}
	m.layered = true
	asked, err := collect(t, m.write(t))
	if err != nil || !reflect.DeepEqual(asked.Blocks, doc.Blocks) {
		t.Errorf("with the styles that pdftohtml prints %q, %v", blocksOf(asked), err)
	}
	return doc
}

func TestHeadingsParagraphsAndLists(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, bold, 20, "Annual Report")
	m.text(72, 120, bold, 14, "1 Results")
	y := m.lines(72, 145, 13, regular, 10,
		"The year was better than the one before it in nearly every respect that an exam-",
		"ple could show, and the self-made plan was kept in all of its most important parts",
		"by everybody.")
	y = m.lines(72, y+8, 13, regular, 10,
		"A second paragraph follows after a gap. It speaks of a well-known matter that is of",
		"interest to few.")
	m.text(72, y+10, bold, 11, "1.1 Reasons")
	y += 30
	y = m.lines(72, y, 13, regular, 10, "There were some:")
	m.text(80, y, regular, 10, "-").text(92, y, regular, 10,
		"the first one, which is so long that it has to go on in a")
	m.text(92, y+13, regular, 10, "second line")
	m.text(80, y+26, regular, 10, "-").text(92, y+26, regular, 10, "the second one")
	m.text(100, y+39, regular, 10, "1.").text(114, y+39, regular, 10, "a part of it")
	m.text(100, y+52, regular, 10, "2.").text(114, y+52, regular, 10, "another part")
	m.text(72, y+80, bold, 14, "2 Outlook")
	m.text(72, y+105, regular, 10, "It is good.")
	assertBlocks(
		t, m,
		"heading 1 Annual Report",
		"heading 2 1 Results",
		"paragraph The year was better than the one before it in nearly every respect that an example could show, "+
			"and the self-made plan was kept in all of its most important parts by everybody.",
		"paragraph A second paragraph follows after a gap. It speaks of a well-known matter that is of interest to few.",
		"heading 3 1.1 Reasons",
		"paragraph There were some:",
		"item 0 - the first one, which is so long that it has to go on in a second line",
		"item 0 - the second one",
		"item 1 1. a part of it",
		"item 1 2. another part",
		"heading 2 2 Outlook",
		"paragraph It is good.",
	)
}

// column is a paragraph of n full lines, each with its name and number.
func column(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s line %02d of running text that is full", name, i)
	}
	return out
}

func TestColumnsAreReadOneAfterTheOther(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(150, 70, bold, 18, "A title over both of the columns")
	m.lines(60, 110, 12, regular, 10, column("left", 20)...)
	m.lines(310, 110, 12, regular, 10, column("right", 20)...)
	m.text(150, 380, bold, 18, "Another title over both columns")
	m.lines(60, 420, 12, regular, 10, column("third", 12)...)
	m.lines(310, 420, 12, regular, 10, column("fourth", 12)...)
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, line := range blocksOf(doc) {
		for w := range strings.FieldsSeq(line) {
			switch w {
			case "left", "right", "third", "fourth", "A", "Another":
				if len(order) == 0 || order[len(order)-1] != w {
					order = append(order, w)
				}
			}
		}
	}
	if got, want := strings.Join(order, " "), "A left right Another third fourth"; got != want {
		t.Errorf("read in the order %q, want %q", got, want)
	}
}

// A program may write the lines of two columns alternately; they are still columns.
func TestColumnsWrittenAlternately(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	left, right := column("left", 24), column("right", 24)
	for i := range left {
		y := 80 + 12*float64(i)
		m.text(60, y, regular, 10, left[i]).text(310, y, regular, 10, right[i])
	}
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(blocksOf(doc), " ")
	if strings.LastIndex(text, "left") > strings.Index(text, "right") {
		t.Errorf("columns are mixed: %.200s", text)
	}
}

func TestRunningHeadsAndPageNumbersAreLeftOut(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for i := range 9 {
		m.page().text(72, 40, regular, 9, "Handbook of Everything").text(480, 40, regular, 9,
			fmt.Sprintf("Chapter %d", i/3+1))
		m.text(72, 100, regular, 10, fmt.Sprintf("Page %s has one line of text on it.", string(rune('A'+i))))
		m.text(290, 800, regular, 9, fmt.Sprintf("- %d -", i+1))
		want = append(want, fmt.Sprintf("paragraph Page %s has one line of text on it.", string(rune('A'+i))))
	}
	doc := assertBlocks(t, m, want...)
	for i, b := range doc.Blocks {
		if b.Page != i+1 {
			t.Errorf("block %d is on page %d", i, b.Page)
		}
	}
}

func TestParagraphContinuesOnTheNextPage(t *testing.T) {
	t.Parallel()
	m := &maker{}
	m.page().lines(72, 700, 12, regular, 10, "This sentence begins at the foot of a page, and in the middle of it",
		"the page ends although there is more to be said about the dis-")
	m.page().lines(72, 80, 12, regular, 10, "cussion of it.", "Here is the rest.")
	doc := assertBlocks(
		t, m,
		"paragraph This sentence begins at the foot of a page, and in the middle of it the page ends although there "+
			"is more to be said about the discussion of it.",
		"paragraph Here is the rest.",
	)
	if doc.Blocks[0].Page != 1 || doc.Blocks[1].Page != 2 {
		t.Errorf("got pages %d and %d", doc.Blocks[0].Page, doc.Blocks[1].Page)
	}
}

func TestCodeKeepsItsLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.lines(72, 80, 13, regular, 10, "The following program adds two numbers and returns what comes of it, which is "+
		"their sum.")
	m.lines(72, 110, 12, mono, 9, "func add(a, b int) int {")
	m.lines(72+4*5.4, 122, 12, mono, 9, "return a + b")
	m.lines(72, 134, 12, mono, 9, "}")
	assertBlocks(
		t, m,
		"paragraph The following program adds two numbers and returns what comes of it, which is their sum.",
		"code func add(a, b int) int {\n    return a + b\n}",
	)
}

func TestOutlineNamesHeadings(t *testing.T) {
	t.Parallel()
	m := &maker{outline: []string{"Plain as it looks"}}
	m.page().text(72, 80, regular, 10, "Plain as it looks")
	m.text(72, 110, regular, 10, "Only the bookmarks know that the line above this one is a heading of its own.")
	assertBlocks(t, m, "heading 1 Plain as it looks",
		"paragraph Only the bookmarks know that the line above this one is a heading of its own.")
}

func TestRightToLeftColumns(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for i := range 12 { // in visual order; the right column is read first, from right to left
		m.text(60, 80+12*float64(i), hebrew, 10, "hg fe hg fe hg fe hg fe hg fe")
	}
	for i := range 12 {
		m.text(310, 80+12*float64(i), hebrew, 10, "dc ba dc ba dc ba dc ba dc ba")
	}
	doc, err := collect(t, m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(blocksOf(doc), " ")
	if strings.LastIndex(text, "אב גד") > strings.Index(text, "הו זח") || !strings.Contains(text, "אב גד") ||
		!strings.Contains(text, "הו זח") {
		t.Errorf("read as %q", text)
	}
}

// Copies of one page have the same first lines, which are not headers.
func TestCopiesOfAPageAreKept(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for range 3 {
		m.page().text(72, 60, regular, 10, "Invoice of the North Branch.")
		m.lines(72, 110, 13, regular, 10,
			"One box of pens and two of paper, as you ordered them by letter in the last week of May.",
			"They were sent.")
		m.text(72, 780, regular, 10, "Please pay within thirty days.")
		want = append(want, "paragraph Invoice of the North Branch.",
			"paragraph One box of pens and two of paper, as you ordered them by letter in the last week of May. "+
				"They were sent.",
			"paragraph Please pay within thirty days.")
	}
	assertBlocks(t, m, want...)
}

func TestInfo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ title, want string }{
		{"The Art of Waiting", "The Art of Waiting"},
		{"Microsoft Word - report_final.doc", ""},
		{"untitled", ""},
		{"report-2024.pdf", ""},
		{"", ""},
	} {
		m := &maker{
			info: "/Title (" + tt.title + ") /Author (A. Writer) /Producer (P) /CreationDate (D:20240102030405Z)",
		}
		doc, err := collect(t, m.page().text(72, 80, regular, 10, "Some text.").page().write(t))
		if err != nil {
			t.Fatal(err)
		}
		p := doc.Properties
		if doc.Title != tt.want || doc.Pages != 2 || p["author"] != "A. Writer" || p["producer"] != "P" ||
			!strings.HasPrefix(p["created"], "2024-01-02T03:04:05") || p["text_pages"] != "1" {
			t.Errorf("%q: %+v", tt.title, doc.Info)
		}
	}
}

func TestScanHasNoBlocks(t *testing.T) {
	t.Parallel()
	doc, err := collect(t, (&maker{}).page().page().page().write(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Blocks) != 0 || doc.Pages != 3 || doc.Properties["text_pages"] != "0" {
		t.Errorf("%+v with %d blocks", doc.Info, len(doc.Blocks))
	}
}
