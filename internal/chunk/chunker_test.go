package chunk_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func head(level int, text string) extract.Block {
	return extract.Block{Kind: extract.Heading, Level: level, Text: text}
}

func para(text string) extract.Block { return extract.Block{Kind: extract.Paragraph, Text: text} }

func point(level int, marker, text string) extract.Block {
	return extract.Block{Kind: extract.ListItem, Level: level, Marker: marker, Text: text}
}

func caption(text string) extract.Block { return extract.Block{Kind: extract.Caption, Text: text} }

func code(text string) extract.Block { return extract.Block{Kind: extract.Code, Text: text} }

func table(headers int, rows ...string) extract.Block {
	t := &extract.Table{Headers: headers}
	for _, row := range rows {
		var cells []extract.Cell
		for cell := range strings.SplitSeq(row, "|") {
			cells = append(cells, extract.Cell{Text: cell})
		}
		t.Rows = append(t.Rows, cells)
	}
	return extract.Block{Kind: extract.TableKind, Table: t}
}

// prose is a paragraph of the given number of words, a token each, in sentences of ten.
func prose(words int) string {
	var b strings.Builder
	for i := range words {
		switch i % 10 {
		case 0:
			b.WriteString("This")
		case 9:
			b.WriteString(" ends.")
			if i+1 < words {
				b.WriteString(" ")
			}
		default:
			b.WriteString(" word")
		}
	}
	return b.String()
}

type piece struct {
	path, kind, content string
}

func TestStructure(t *testing.T) {
	t.Parallel()
	long, part := prose(200), prose(80)
	for name, test := range map[string]struct {
		blocks []extract.Block
		want   []piece
	}{
		"nothing": {},
		"blank blocks": {
			blocks: []extract.Block{
				para(" \n\t"), head(1, ""), code("\n\n"), point(0, "-", " "),
				{Kind: extract.TableKind},
				table(1, "|", "|"),
			},
		},
		"neighbours are merged": {
			blocks: []extract.Block{para("One."), para("Two  of\tthem."), para("Three\n \nlines.")},
			want:   []piece{{"", "text", "One.\n\nTwo of them.\n\nThree\nlines."}},
		},
		"no chunk crosses a top heading": {
			blocks: []extract.Block{para("Preface."), head(1, "A"), para("a"), head(1, "B"), para("b")},
			want:   []piece{{"", "text", "Preface."}, {"A", "text", "# A\n\na"}, {"B", "text", "# B\n\nb"}},
		},
		"the top heading may be of any level": {
			blocks: []extract.Block{head(3, "A"), para("a"), head(2, "B"), para("b"), head(3, "C"), para("c")},
			want:   []piece{{"A", "text", "### A\n\na"}, {"B", "text", "## B\n\nb\n\n### C\n\nc"}},
		},
		"headings without text are kept": {
			blocks: []extract.Block{head(1, "A"), head(1, "B"), head(2, "C"), head(2, "D"), para("d"), head(2, "E")},
			want:   []piece{{"A", "text", "# A"}, {"B > D", "text", "# B\n\n## C\n\n## D\n\nd\n\n## E"}},
		},
		"a subsection is a chunk of its own": {
			blocks: []extract.Block{head(1, "A"), para(long), head(2, "B"), para(long), head(2, "C"), para(long)},
			want: []piece{
				{"A", "text", "# A\n\n" + long},
				{"A > B", "text", "## B\n\n" + long},
				{"A > C", "text", "## C\n\n" + long},
			},
		},
		"small subsections are merged": {
			blocks: []extract.Block{
				head(1, "A"), head(2, "B"), para("b"), head(2, "C"), para("c"), head(2, "D"), para(long),
			},
			want: []piece{{"A", "text", "# A\n\n## B\n\nb\n\n## C\n\nc\n\n## D\n\n" + long}},
		},
		"a small last subsection goes with the one before": {
			blocks: []extract.Block{head(1, "A"), para(long), head(2, "B"), para("b"), head(1, "C")},
			want:   []piece{{"A", "text", "# A\n\n" + long + "\n\n## B\n\nb"}, {"C", "text", "# C"}},
		},
		"small parts of a section are merged": {
			blocks: []extract.Block{
				head(1, "A"), head(2, "B"), para(part), head(2, "C"), para(part), head(3, "D"), para(part), head(2, "E"), para(part),
				head(2, "F"), para(part),
			},
			want: []piece{
				{"A", "text", "# A\n\n## B\n\n" + part + "\n\n## C\n\n" + part},
				{"A > C > D", "text", "### D\n\n" + part},
				{"A", "text", "## E\n\n" + part + "\n\n## F\n\n" + part},
			},
		},
		"small parts of different sections are not": {
			blocks: []extract.Block{
				head(1, "A"), head(2, "B"), para(long), head(3, "C"), para(part), head(2, "D"), para(part),
			},
			want: []piece{
				{"A > B", "text", "# A\n\n## B\n\n" + long},
				{"A > B > C", "text", "### C\n\n" + part},
				{"A > D", "text", "## D\n\n" + part},
			},
		},
		"a part is merged whole or not": {
			blocks: []extract.Block{
				head(1, "A"), head(2, "B"), para(part), head(2, "C"), para(long), para(long), head(2, "D"), para(part),
			},
			want: []piece{
				{"A > B", "text", "# A\n\n## B\n\n" + part},
				{"A > C", "text", "## C\n\n" + long + "\n\n" + long},
				{"A > D", "text", "## D\n\n" + part},
			},
		},
		"lists": {
			blocks: []extract.Block{
				para("Needed:"), point(0, "", "flour"), point(0, "2.", "milk,\nfresh"), point(1, "-", "warm"),
				para("Mix."),
			},
			want: []piece{{"", "list", "Needed:\n\n- flour\n2. milk,\nfresh\n  - warm\n\nMix."}},
		},
		"tables": {
			blocks: []extract.Block{caption("Table 1: prices"), table(1, "Name|Price", "a|1", "b\nc|2", "x\\|3")},
			want: []piece{
				{"", "table", "Table 1: prices\n\n| Name | Price |\n| --- | --- |\n| a | 1 |\n| b c | 2 |\n| x\\ | 3 |"},
			},
		},
		"spans": {
			blocks: []extract.Block{{Kind: extract.TableKind, Table: &extract.Table{Headers: 1, Rows: [][]extract.Cell{
				{{Text: "wide", ColSpan: 2}, {Text: "h|"}},
				{{Text: "tall", RowSpan: 2}, {Text: "1"}, {Text: "2"}},
				{{Text: "3"}, {Text: "4"}},
			}}}},
			want: []piece{{"", "table", "| wide |  | h\\| |\n| --- | --- | --- |\n| tall | 1 | 2 |\n|  | 3 | 4 |"}},
		},
		"code": {
			blocks: []extract.Block{code("\n\n  if x {  \n\n\n\n\n    y()\n  }\n\n")},
			want:   []piece{{"", "code", "  if x {\n\n\n    y()\n  }"}},
		},
		"a picture's text": {
			blocks: []extract.Block{
				{Kind: extract.Picture, Text: "a cat"}, caption("Figure 1"), {Kind: extract.Picture},
			},
			want: []piece{{"", "text", "a cat\n\nFigure 1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []piece
			for _, c := range chunks(t, chunk.Config{}, test.blocks...) {
				got = append(got, piece{strings.Join(c.HeadingPath, " > "), c.Kind, c.Content})
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

// The title and headings above a chunk are embedded with it, each heading once.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	all := chunks(t, chunk.Config{Title: "The Book"}, head(1, "A"), head(2, "B"), para(prose(900)), head(1, "The Book"),
		para("End."), para(prose(700)))
	if len(all) < 4 {
		t.Fatalf("%d chunks", len(all))
	}
	for i, want := range map[int]string{
		0:            "The Book\n\n# A\n\n## B\n\nThis word",
		1:            "The Book\nA > B\n\nThis word",
		len(all) - 1: "The Book\n\nThis word", // not twice
	} {
		if !strings.HasPrefix(all[i].Embedded, want) {
			t.Errorf("chunk %d is embedded as %.60q, want %q", i, all[i].Embedded, want)
		}
	}
}

func TestLongTableRepeatsItsHeader(t *testing.T) {
	t.Parallel()
	rows := []string{"Name|Remark"}
	for range 200 {
		rows = append(rows, "somebody|nothing to say of this one")
	}
	rows[150] = "somebody|" + prose(2000)
	all := chunks(t, chunk.Config{}, table(1, rows...), caption("Table 1"))
	for i, c := range all {
		begins := strings.HasPrefix(c.Content, "| Name | Remark |\n| --- | --- |\n| somebody |")
		inLongRow := strings.HasPrefix(c.Content, "This") || strings.HasPrefix(c.Content, "Name: somebody") ||
			strings.HasPrefix(c.Content, "Remark: This")
		if !begins && !inLongRow || c.Kind != chunk.Table {
			t.Errorf("chunk %d of %d (%s) begins %.50q", i, len(all), c.Kind, c.Content)
		}
	}
	if last := all[len(all)-1].Content; !strings.HasSuffix(last, " |\n\nTable 1") {
		t.Errorf("the caption is not with its table: %q", last)
	}
}

func TestPagesAndBoxes(t *testing.T) {
	t.Parallel()
	on := func(page int, box *extract.Box) extract.Block {
		return extract.Block{Kind: extract.Paragraph, Text: "text", Page: page, Box: box}
	}
	all := chunks(t, chunk.Config{}, on(2, &extract.Box{Left: .2, Top: .1, Right: .3, Bottom: .2}), on(0, nil),
		on(2, &extract.Box{Left: .1, Top: .3, Right: .2, Bottom: .4}), on(1, nil),
		on(3, &extract.Box{Right: 1, Bottom: 1}))
	if len(all) != 1 || !slices.Equal(all[0].Pages, []int{1, 2, 3}) {
		t.Fatalf("got %+v", all)
	}
	want := []chunk.Place{
		{Page: 2, Box: extract.Box{Left: .1, Top: .1, Right: .3, Bottom: .4}},
		{Page: 3, Box: extract.Box{Right: 1, Bottom: 1}},
	}
	if !slices.Equal(all[0].Boxes, want) {
		t.Errorf("boxes %v, want %v", all[0].Boxes, want)
	}
}

// A key depends on the embedded text and the model, and nothing else.
func TestKey(t *testing.T) {
	t.Parallel()
	key := func(c chunk.Config, b extract.Block) string { return chunks(t, c, b)[0].Key }
	config := chunk.Config{Title: "T", Model: "m", Dimensions: 8}
	base := key(config, para("text"))
	if want := "d39476d8baeba95ab0a690a807d7444634f1871ec1fe0ab572117b2ec7d376d3"; base != want {
		t.Errorf("the key is %s, not %s: if that is meant, raise keyVersion", base, want)
	}
	if got := key(config, extract.Block{
		Kind: extract.Paragraph, Text: "text", Page: 7,
		Box: &extract.Box{Right: 1},
	}); got != base {
		t.Error("the page is part of the key")
	}
	for what, c := range map[string]chunk.Config{
		"title": {Title: "U", Model: "m", Dimensions: 8}, "model": {Title: "T", Model: "n", Dimensions: 8},
		"dimensions": {Title: "T", Model: "m", Dimensions: 9},
	} {
		if key(c, para("text")) == base {
			t.Errorf("the %s is not part of the key", what)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	c := chunk.New(chunk.Config{Counter: counter}, func(chunk.Chunk) error { return full })
	if err := c.Add(para(prose(2000))); !errors.Is(err, full) {
		t.Errorf("Add: %v", err)
	}
	if err := c.Close(); !errors.Is(err, full) {
		t.Errorf("Close: %v", err)
	}
	c = chunk.New(chunk.Config{Counter: counter}, func(chunk.Chunk) error { return nil })
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := c.Add(para("text")); err == nil {
		t.Error("Add after Close works")
	}
}
