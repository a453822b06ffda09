package extract_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func cells(texts ...string) []extract.Cell {
	row := make([]extract.Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

func TestWriteMarkdown(t *testing.T) {
	t.Parallel()
	table := func(t extract.Table) extract.Block { return extract.Block{Kind: extract.TableKind, Table: &t} }
	for _, tt := range []struct {
		what   string
		blocks []extract.Block
		want   string
	}{
		{
			"paragraphs",
			[]extract.Block{{Kind: extract.Paragraph, Text: "a\nb"}, {Kind: extract.Caption, Text: "c"}},
			"a  \nb\n\nc\n",
		},
		{"heading", []extract.Block{{Kind: extract.Heading, Level: 2, Text: "A\nB"}}, "## A B\n"},
		{
			"marks are escaped",
			[]extract.Block{{Kind: extract.Paragraph, Text: "# no *heading* a_b <i> [x](y) `c`"}},
			"\\# no \\*heading\\* a\\_b &lt;i> \\[x\\](y) \\`c\\`\n",
		},
		{
			"no list by chance",
			[]extract.Block{{Kind: extract.Paragraph, Text: "1984. A year\n- dash\n---"}},
			"1984\\. A year  \n\\- dash  \n\\---\n",
		},
		{
			"lists", []extract.Block{
				{Kind: extract.ListItem, Marker: "-", Text: "a"},
				{Kind: extract.ListItem, Level: 1, Marker: "2.", Text: "b"},
				{Kind: extract.ListItem, Level: 1, Marker: "c)", Text: "c"},
				{Kind: extract.Paragraph, Text: "p"},
				{Kind: extract.ListItem, Level: 2, Marker: "-", Text: "deep"},
				{Kind: extract.ListItem, Level: 0, Marker: "-", Text: "top"},
			}, "- a\n    2. b\n    - c) c\n\np\n\n- deep\n- top\n",
		},
		{"code", []extract.Block{{Kind: extract.Code, Text: "a_b\n```"}}, "````\na_b\n```\n````\n"},
		{"picture", []extract.Block{{Kind: extract.Picture, Text: "A duck"}}, "A duck\n\n<!-- image -->\n"},
		{
			"table",
			[]extract.Block{table(extract.Table{Headers: 1, Rows: [][]extract.Cell{cells("a", "b|c"), cells("d\ne")}})},
			"| a | b\\|c |\n| - | - |\n| d e |  |\n",
		},
		{
			"spans",
			[]extract.Block{table(extract.Table{Rows: [][]extract.Cell{
				{{Text: "a", ColSpan: 2}, {Text: "b"}},
				{{Text: "c", RowSpan: 2}, {Text: "d"}, {Text: "e", RowSpan: 3}},
				cells("f"), cells("g"),
			}})},
			"| a | a | b |\n| - | - | - |\n| c | d | e |\n| c | f | e |\n| g |  | e |\n",
		},
		{
			"slices", []extract.Block{
				table(extract.Table{Headers: 1, Rows: [][]extract.Cell{cells("h"), cells("1")}}),
				table(extract.Table{Headers: 1, Continued: true, Rows: [][]extract.Cell{cells("h"), cells("2")}}),
			}, "| h |\n| - |\n| 1 |\n| 2 |\n",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := extract.WriteMarkdown(&out, &extract.Document{Blocks: tt.blocks}); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), tt.want)
			}
		})
	}
}

func TestTableWriterSlices(t *testing.T) {
	t.Parallel()
	var got []extract.Table
	out := extract.NewTableWriter(func(b extract.Block) error {
		got = append(got, *b.Table)
		return nil
	}, extract.Block{})
	out.Row(cells("h"), true)
	for i := range 1200 {
		out.Row(cells(fmt.Sprint(i)), false)
		if out.Full() {
			if err := out.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	next := 0
	for i, slice := range got {
		if slice.Headers != 1 || slice.Rows[0][0].Text != "h" || slice.Continued != (i > 0) {
			t.Errorf("slice %d: %d headers, continued %v", i, slice.Headers, slice.Continued)
		}
		for _, row := range slice.Rows[1:] {
			if row[0].Text != fmt.Sprint(next) {
				t.Fatalf("row %q, want %d", row[0].Text, next)
			}
			next++
		}
	}
	if len(got) != 3 || next != 1200 {
		t.Errorf("%d slices of %d rows", len(got), next)
	}
}

func ExampleWriteMarkdown() {
	doc := &extract.Document{Blocks: []extract.Block{
		{Kind: extract.Heading, Level: 1, Text: "Ducks"},
		{Kind: extract.ListItem, Marker: "-", Text: "Mallard"},
	}}
	if err := extract.WriteMarkdown(os.Stdout, doc); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # Ducks
	//
	// - Mallard
}
