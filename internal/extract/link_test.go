package extract

import (
	"context"
	"reflect"
	"strings"
	"testing"
)

func TestTarget(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.com/a?b=c&d=e#f": "https://example.com/a?b=c&d=e#f",
		" HTTP://example.com ":            "HTTP://example.com",
		"mailto:a@example.com":            "mailto:a@example.com",
		"#chapter 2":                      "#chapter 2",
		"https://user:word@example.com/":  "https://example.com/",
		"java\nscript:alert(1)":           "",
		"javascript:alert(1)":             "",
		"JaVaScRiPt:alert(1)":             "",
		"data:text/html,x":                "",
		"file:///etc/passwd":              "",
		"vbscript:x":                      "",
		"ftp://example.com/":              "",
		"//example.com/":                  "",
		"page.html":                       "",
		"http:example.com":                "",
		"https://":                        "",
		"https://example.com/%zz":         "",
		"mailto:":                         "",
		"#":                               "",
		"":                                "",
		"https://e\xff.com":               "",
		"https://example.com/" + strings.Repeat("a", maxTarget): "",
	} {
		if got := Target(address); got != want {
			t.Errorf("%.60q: got %q, want %q", address, got, want)
		}
	}
}

// TestLinksFollowTheirWords: a link stays at its words when the text is cleaned.
func TestLinksFollowTheirWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		link [2]int
		want string // the linked words; "": none
	}{
		{"see here now", [2]int{4, 8}, "here"},
		{"  see\u00adme here now", [2]int{10, 14}, "here"},
		{"a\r\nb here", [2]int{5, 9}, "here"},
		{"\u00a0\xff\xfehere", [2]int{4, 8}, "here"},
		{"see  here  now", [2]int{3, 11}, "here"},
		{"here  ", [2]int{0, 6}, "here"},
		{"here", [2]int{0, 400}, "here"},
		{"here", [2]int{-3, 4}, ""},
		{"here", [2]int{3, 2}, ""},
		{"h\u00e4re", [2]int{2, 4}, ""}, // in a character
		{"a \u00ad b", [2]int{2, 4}, ""},
	} {
		b := Block{Kind: Paragraph, Text: tt.text, Links: []Link{{tt.link[0], tt.link[1], "#t"}}}
		b.clean()
		got := ""
		if len(b.Links) > 0 {
			got = b.Text[b.Links[0].Start:b.Links[0].End]
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestLinksInMarkdown(t *testing.T) {
	t.Parallel()
	link := func(start, end int) []Link { return []Link{{start, end, "https://e.com/a_(b) c|d?x=1&lt;"}} }
	const url = `(https://e.com/a_%28b%29%20c%7Cd?x=1&amp;lt;)`
	long := strings.Repeat("l", maxRepeat+1)
	doc := &Document{Blocks: []Block{
		{Kind: Heading, Level: 2, Text: "On [x] it", Links: link(3, 6)},
		{Kind: Paragraph, Text: "Look!here\nthere", Links: link(5, 15)},
		{Kind: Paragraph, Text: "# a b", Links: link(2, 3)},
		{Kind: ListItem, Marker: "-", Text: "one two", Links: link(0, 3)},
		{Kind: TableKind, Table: &Table{Headers: 1, Rows: [][]Cell{
			{{Text: "a", Links: link(0, 1), ColSpan: 2}},
			{{Text: "b|c", Links: link(0, 3)}, {Text: long, Links: link(0, 1), RowSpan: 2}},
			{{Text: "d"}},
		}}},
		{Kind: Paragraph, Text: "stale", Links: []Link{{2, 9, "#x"}, {4, 1, "#x"}}},
	}}
	want := `## On [\[x\]]` + url + ` it

Look\![here  
there]` + url + `

\# [a]` + url + ` b

- [one]` + url + ` two

| [a]` + url + ` | a |
| - | - |
| [b\|c]` + url + ` | [l]` + url + long[1:] + ` |
| d |  |

stale
`
	var got strings.Builder
	if err := WriteMarkdown(&got, doc); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestLinksAreLimited: a document keeps its text and loses the links beyond the limits.
func TestLinksAreLimited(t *testing.T) {
	t.Parallel()
	var l Linker
	text := strings.Repeat("ab ", 2*maxTextLinks)
	for i := 0; i < len(text); i += 3 {
		l.Begin("#a", i)
		l.End(i + 2)
	}
	links := l.Take(len(text))
	if len(links) != maxTextLinks {
		t.Errorf("%d links of one text", len(links))
	}
	kept := 0
	g := &guard{ctx: context.Background(), limit: 1 << 30, emit: func(b Block) error {
		kept += len(b.Links)
		if b.Text == "" {
			t.Error("the text is lost")
		}
		return nil
	}}
	for range 2 * maxLinks / maxTextLinks {
		if err := g.block(Block{Kind: Paragraph, Text: text, Links: links}); err != nil {
			t.Fatal(err)
		}
	}
	if kept != maxLinks {
		t.Errorf("%d links of a document", kept)
	}
}

// TestLinksOfPieces: a text that is cut keeps the links on both sides of the cut.
func TestLinksOfPieces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", maxText/5+100)
	var got []Block
	g := &guard{ctx: context.Background(), limit: 1 << 30, emit: func(b Block) error {
		got = append(got, b)
		return nil
	}}
	if err := g.block(Block{
		Kind: Paragraph, Text: text, Links: []Link{{0, 4, "#a"}, {10, len(text) - 6, "#b"}, {len(text) - 5, len(text), "#c"}},
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].Links) != 2 || len(got[1].Links) != 2 || got[1].Links[0].Start != 0 ||
		got[1].Links[1].End != len(got[1].Text) {
		t.Errorf("%d pieces with %v", len(got), []any{got[0].Links, got[len(got)-1].Links})
	}
}

func TestCellOf(t *testing.T) {
	t.Parallel()
	at := []Link{{0, 1, "#t"}}
	got := CellOf([]Block{
		{Text: " a ", Links: []Link{{1, 2, "#t"}}},
		{Kind: ListItem, Marker: "2.", Text: "b", Links: at},
		{},
		{Table: &Table{Rows: [][]Cell{{{Text: "c"}, {}, {Text: "d", Links: at}}, {{}}}}},
	})
	want := Cell{Text: "a\n2. b\nc | d", Links: []Link{{0, 1, "#t"}, {5, 6, "#t"}, {11, 12, "#t"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
