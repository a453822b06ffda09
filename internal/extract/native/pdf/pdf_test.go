package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// blocksOf writes one line for each block: kind, level or marker, text.
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
	m.text(80, y, regular, 10, "-").text(92, y, regular, 10, "the first one, which is so long that it has to go on in a")
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
		"paragraph The year was better than the one before it in nearly every respect that an example could show, and the self-made plan was kept in all of its most important parts by everybody.",
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

// column is a paragraph of n full lines, each bearing its name and number.
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

// A page's program may write the lines of two columns in turn; they are columns all the same.
func TestColumnsWrittenInTurn(t *testing.T) {
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

func TestTable(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, regular, 10, "The table shows what was sold in the two years by each of the three branches we have.")
	for i, row := range [][]string{{"Branch", "2023", "2024"}, {"North", "1,200", "1,350"}, {"South and Isles", "980", "1,010"}, {"West", "400", "395"}} {
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
	if box == nil || box.Left < 0.1 || box.Left > 0.13 || box.Top < 0.1 || box.Bottom > 0.22 || box.Right < 0.5 || box.Right > 0.65 {
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
	assertBlocks(t, m, "table 1 Term|Meaning|Since / Lease|the right to work on a message|2019 / Fence|a number that only ever rises|2021 / Drain|stop taking work|2022")
}

func TestRunningHeadsAndPageNumbersAreLeftOut(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for i := range 9 {
		m.page().text(72, 40, regular, 9, "Handbook of Everything").text(480, 40, regular, 9, fmt.Sprintf("Chapter %d", i/3+1))
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

// The header row that a table repeats on each page stands right above its rows: it is no running head.
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
		t.Errorf("the header row is there %d times, want 3: %v", got, blocksOf(doc))
	}
}

func TestParagraphGoesOnOnTheNextPage(t *testing.T) {
	t.Parallel()
	m := &maker{}
	m.page().lines(72, 700, 12, regular, 10, "This sentence begins at the foot of a page, and in the middle of it", "the page ends although there is more to be said about the dis-")
	m.page().lines(72, 80, 12, regular, 10, "cussion of it.", "Here is the rest.")
	doc := assertBlocks(t, m, "paragraph This sentence begins at the foot of a page, and in the middle of it the page ends although there is more to be said about the discussion of it. Here is the rest.")
	if doc.Blocks[0].Page != 1 {
		t.Errorf("it is said to be on page %d", doc.Blocks[0].Page)
	}
}

func TestCodeKeepsItsLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.lines(72, 80, 13, regular, 10, "The following program adds two numbers and returns what comes of it, which is their sum.")
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
	assertBlocks(t, m, "heading 1 Plain as it looks", "paragraph Only the bookmarks know that the line above this one is a heading of its own.")
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
		m := &maker{info: "/Title (" + tt.title + ") /Author (A. Writer) /CreationDate (D:20240102030405Z)"}
		doc, err := collect(t, m.page().text(72, 80, regular, 10, "Some text.").page().write(t))
		if err != nil {
			t.Fatal(err)
		}
		p := doc.Properties
		if doc.Title != tt.want || doc.Pages != 2 || p["author"] != "A. Writer" || !strings.HasPrefix(p["created"], "2024-01-02T03:04:05") || p["text_pages"] != "1" {
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

func classOf(err error) job.Class {
	if e, ok := errors.AsType[*job.Error](err); ok {
		return e.Class
	}
	return ""
}

func TestFailures(t *testing.T) {
	t.Parallel()
	long := &maker{}
	for range 5 {
		long.page().text(72, 80, regular, 10, "A page of text.")
	}
	whole := long.bytes()
	for name, tt := range map[string]struct {
		content []byte
		limits  extract.Limits
		class   job.Class
	}{
		"no PDF":              {[]byte("hello"), extract.Limits{}, job.CorruptionDetected},
		"empty":               {nil, extract.Limits{}, job.CorruptionDetected},
		"only a head":         {[]byte("%PDF-1.7\n"), extract.Limits{}, job.CorruptionDetected},
		"no pages":            {(&maker{}).bytes(), extract.Limits{}, job.CorruptionDetected},
		"too many pages":      {whole, extract.Limits{Pages: 4}, job.QuotaExceeded},
		"too many characters": {whole, extract.Limits{Characters: 20}, job.QuotaExceeded},
		"too large":           {whole, extract.Limits{Bytes: 100}, job.QuotaExceeded},
		"no memory":           {whole, extract.Limits{ChildBytes: 1 << 20}, job.CorruptionDetected},
		"no time":             {whole, extract.Limits{Time: 1}, job.CorruptionDetected},
		"as it should be":     {whole, extract.Limits{}, ""},
		"its end cut off":     {whole[:len(whole)-20], extract.Limits{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			src := extract.Source{Path: path, Format: extract.PDF, Size: int64(len(tt.content))}
			doc, err := extract.Collect(t.Context(), pdf.New(), src, tt.limits)
			if classOf(err) != tt.class {
				t.Fatalf("got %v, want class %q", err, tt.class)
			}
			if tt.class == "" && len(doc.Blocks) == 0 {
				t.Error("no blocks")
			}
		})
	}
}

func TestErrorOfEmitEndsIt(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "One.").page().text(72, 80, regular, 10, "Two.")
	stop := errors.New("enough")
	_, err := pdf.New().Extract(t.Context(), extract.Source{Path: m.write(t)}, extract.Limits{}, func(extract.Block) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestCancelEndsIt(t *testing.T) {
	t.Parallel()
	m := &maker{}
	for i := range 300 {
		m.page().text(72, 80, regular, 10, fmt.Sprintf("Sentence %d ends here.", i))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	_, err := pdf.New().Extract(ctx, extract.Source{Path: m.write(t)}, extract.Limits{}, func(extract.Block) error {
		cancel(stop)
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// The first blocks are there long before the last page is read: with an emit that never returns but
// by the test's word, no more than the window and what lies in pipes can have been read.
func TestBlocksAreEmittedWhileReading(t *testing.T) {
	t.Parallel()
	m := &maker{}
	const pages = 250
	for i := range pages {
		m.page().text(72, 80, regular, 10, fmt.Sprintf("Sentence %c%c ends here.", 'a'+i/26, 'a'+i%26))
	}
	path := m.write(t)
	seen := 0
	_, err := pdf.New().Extract(t.Context(), extract.Source{Path: path}, extract.Limits{}, func(b extract.Block) error {
		if seen++; seen == 1 {
			// Poppler opens the file anew for each range of pages: the ranges after the first now fail.
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o600)
		}
		return nil
	})
	if seen == 0 || classOf(err) != job.CorruptionDetected {
		t.Errorf("%d blocks, %v", seen, err)
	}
}

func TestEachHostileFileEndsInAResultOrOneClearError(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(corpus(t, "hostile", "*.pdf"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			doc, err := extract.Collect(ctx, pdf.New(), extract.Source{Path: file}, extract.Limits{})
			if err != nil {
				t.Log(err)
				if classOf(err) != job.CorruptionDetected {
					t.Errorf("class %q", classOf(err))
				}
				return
			}
			t.Logf("%d pages, %d blocks, %d characters", doc.Pages, len(doc.Blocks), doc.Characters)
		})
	}
}

func TestScansOfTheCorpusHaveNoText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ocr_test.pdf", "ocr_test_rotated_90.pdf"} {
		doc, err := collect(t, corpus(t, "documents", name))
		if err != nil || len(doc.Blocks) != 0 || doc.Properties["text_pages"] != "0" || doc.Pages != 1 {
			t.Errorf("%s: %+v %v", name, doc, err)
		}
	}
}
