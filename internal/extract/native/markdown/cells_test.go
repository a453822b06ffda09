package markdown_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestEmptyRows: the rows of a wide table are not filled up without end. 60 KB took 17 GB of memory.
func TestEmptyRows(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|\n", 1000)
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(content), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range doc.Blocks {
		if b.Table != nil {
			t.Errorf("a table of %d rows", len(b.Table.Rows))
		}
	}
}

// TestSurplusCells: text beyond the columns of a table's header is not lost, and costs no columns.
func TestSurplusCells(t *testing.T) {
	t.Parallel()
	const head, want = "| a | b |\n|---|---|\n", "| a | b |\n| - | - |\n"
	for row, cells := range map[string]string{
		"| 1 | 2 | 3 |":                         "| 1 | 2 \\| 3 |",
		"| cmd | ls | wc -l | sort":             "| cmd | ls \\| wc -l \\| sort |",
		"1|2|3":                                 "| 1 | 2 \\| 3 |",
		"| 1 | 2 |  | 4 |  |":                   "| 1 | 2 \\|  \\| 4 |",
		"| 1 | 2 |  |":                          "| 1 | 2 |",
		"| 1 | 2":                               "| 1 | 2 |",
		"| 1":                                   "| 1 |  |",
		"| 1 | 2 | **3** `4` x\\|y &amp; |":     "| 1 | 2 \\| 3 4 x\\|y &amp; |",
		"| 1 | 2 | [s](https://example.com/) |": "| 1 | 2 \\| [s](https://example.com/) |",
		"| 1 | 2 | - 3 | # 4 |":                 "| 1 | 2 \\| - 3 \\| # 4 |",
		"| 1 | 2 | 3\\":                         "| 1 | 2 \\| 3\\\\ |",
	} {
		if got := nativetest.Markdown(t, markdown.New(), extract.Markdown, []byte(head+row+"\n")); got != want+cells+"\n" {
			t.Errorf("%s: got\n%s", row, got)
		}
		quoted := "> " + strings.ReplaceAll(head, "\n", "\n> ") + row + "\n"
		if got := nativetest.Markdown(t, markdown.New(), extract.Markdown, []byte(quoted)); got != want+cells+"\n" {
			t.Errorf("quoted %s: got\n%s", row, got)
		}
	}
	referring := head + "| 1 | 2 | [s][r] |\n\n[r]: https://example.com/\n"
	if got := nativetest.Markdown(t, markdown.New(), extract.Markdown, []byte(referring)); !strings.Contains(got, "(https://example.com/)") {
		t.Errorf("a link by reference: got\n%s", got)
	}
	noted := head + "| 1[^b] | 2 | 3[^a] 4[^b] [^c] |\n\n[^a]: A.\n\n[^b]: B.\n"
	if got := nativetest.Markdown(t, markdown.New(), extract.Markdown, []byte(noted)); !strings.Contains(got, `| 1\[1\] | 2 \| 3\[2\] 4\[1\] \[^c\] |`) {
		t.Errorf("notes: got\n%s", got)
	}
	content := head + strings.Repeat("|x", 30_000) + "\n" + strings.Repeat("|y|z|\n", 1000)
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(content), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range doc.Blocks {
		if b.Table == nil || len(b.Table.Rows[0]) != 2 {
			t.Errorf("%s of %d bytes", b.Kind, len(b.Text))
		}
	}
}
