package markdown_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, source, want string }{
		{
			"inline markup", "# A *b*\n\n**x** `c_d` [l](http://u) <http://e.org> ~~s~~ a\\*b &amp; &copy;\nnext  \nline",
			"# A b\n\nx c\\_d [l](http://u) [http://e.org](http://e.org) s a\\*b &amp; © next  \nline\n",
		},
		{"underlined heading", "T\n=\n\nU\n-\n", "# T\n\n## U\n"},
		{
			"lists", "- a\n  1. b\n  2. c\n\n     more\n- [x] d\n\n3) e\n",
			"- a\n    1. b\n    2. c\n\nmore\n\n- \\[x\\] d\n3. e\n",
		},
		{"code", "```go\nx := `1`\n```\n\n    y\n", "```\nx := `1`\n```\n\n```\ny\n```\n"},
		{"table", "| a | b |\n|---|:-:|\n| 1 | **2**\\|3 |\n", "| a | b |\n| - | - |\n| 1 | 2\\|3 |\n"},
		{
			"raw HTML", "<div>\n<p>p <b>q</b></p>\n</div>\n\na<br>b <sub>c</sub>\n\n<!-- comment -->\n",
			"p q\n\na  \nb c\n",
		},
		{"pictures", "![A duck](d.png)\n\nsee ![it](e.png)\n", "A duck\n\n<!-- image -->\n\nsee it\n"},
		{"footnotes", "Text[^n].\n\n[^n]: The note.\n", "Text\\[1\\].\n\n\\[1\\] The note.\n"},
		{
			"notes in the order of their references", "b[^b] a[^x] b![^b] c[^c]\n\n[^x]: The *one*[^y].\n\n    More.\n" +
				"[^b]: First.\n\n> [^y]: In a quote.\n\nEnd.\n\n[^z]: Not referred to.\n",
			"b\\[1\\] a\\[2\\] b!\\[1\\] c\\[^c\\]\n\nEnd.\n\n\\[1\\] First.\n\n\\[2\\] The one\\[3\\].\n\nMore.\n\n" +
				"\\[3\\] In a quote.\n\n\\[4\\] Not referred to.\n",
		},
		{"quotes", "> a\n>\n> - b\n", "a\n\n- b\n"},
		{"references", "[t][r]\n\n[r]: http://u\n", "[t](http://u)\n"},
		{
			"kinds of references", "[a][1] [b] [c][] [d][] [e]\n\n[1]: <https://u/x y> \"T\"\n[b]: mailto:b@u\n[c]: /page 'T'\n" +
				"[d]: javascript:x\n[e]: is defined nowhere\n",
			"[a](https://u/x%20y) [b](mailto:b@u) c d \\[e\\]\n\n\\[e\\]: is defined nowhere\n",
		},
		{"a reference in a code block", "[t]\n\n```\n[t]: http://u\n```\n", "\\[t\\]\n\n```\n[t]: http://u\n```\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, markdown.New(), extract.Markdown, []byte(tt.source)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, source, title string
		properties          map[string]string
		blocks              int
	}{
		{
			"YAML", "---\ntitle: \"The title\"\nauthor: Ada\ntags:\n  - x: y\n---\n# H\n", "The title",
			map[string]string{"author": "Ada"},
			1,
		},
		{"TOML", "+++\ntitle = 'T'\n+++\ntext\n", "T", map[string]string{}, 1},
		{"a rule, no front matter", "---\nJust text.\n\n---\nmore\n", "", map[string]string{}, 2},
		{"never closed", "---\na: b\n\ntext\n", "", nil, 2},
	} {
		doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(tt.source), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if doc.Title != tt.title || len(doc.Blocks) != tt.blocks || len(doc.Properties)+len(tt.properties) > 0 &&
			!reflect.DeepEqual(doc.Properties, tt.properties) {
			t.Errorf("%s: got %q, %v, %+v", tt.what, doc.Title, doc.Properties, doc.Blocks)
		}
	}
}

// TestReferenceFarAway: a link finds its definition, the first of a name, in another slice.
func TestReferenceFarAway(t *testing.T) {
	t.Parallel()
	source := "See [the text][Far] and [far].\n\n" + strings.Repeat("Some text between.\n\n", 20_000) +
		"- item\n\n  ```\n  code\n     ```\n\n[far]: http://example.org\n[Far]: http://example.com\n"
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(source), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.Blocks[0].Text; got != "See the text and far." {
		t.Errorf("got %q", got)
	}
	const target = "http://example.org"
	want := []extract.Link{{Start: 4, End: 12, Target: target}, {Start: 17, End: 20, Target: target}}
	if got := doc.Blocks[0].Links; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNotesFarAway: references and their notes in other slices, before and after them, are as in a short file.
func TestNotesFarAway(t *testing.T) {
	t.Parallel()
	between := strings.Repeat("Some text between.\n\n", 5000)
	source := "[^early]: Before all.\n\nOne[^late].\n\n" + between + "Two[^early] and one[^late].\n\n" + between + "[^late]: After all.\n"
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(source), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range doc.Blocks {
		if b.Text != "Some text between." {
			got = append(got, b.Text)
		}
	}
	if want := []string{"One[1].", "[2] Before all.", "Two[2] and one[1].", "[1] After all."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLongFile: slicing loses nothing, keeps the order, and doesn't cut a code block with blank lines.
func TestLongFile(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	var want []string
	for i := range 8000 {
		fmt.Fprintf(&source, "# Heading %d\n\nA paragraph of some length, number %d.\n\n", i, i)
		want = append(want, fmt.Sprintf("Heading %d", i), fmt.Sprintf("A paragraph of some length, number %d.", i))
		if i%100 == 0 {
			code := strings.Repeat("# no heading\n\n", 1500)
			source.WriteString("```\n" + code + "```\n\n")
			want = append(want, strings.TrimSpace(code))
		}
	}
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(source.String()), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Blocks) != len(want) {
		t.Fatalf("%d blocks, want %d", len(doc.Blocks), len(want))
	}
	for i, b := range doc.Blocks {
		if b.Text != want[i] {
			t.Fatalf("block %d is %q, want %q", i, b.Text, want[i])
		}
	}
}

func FuzzSource(f *testing.F) {
	f.Add("---\na: b\n---\n# T\n\n- a\n  - b\n\n| a |\n|---|\n| 1 |\n\n```\nx\n```\n[^1]\n\n[^1]: n\n")
	f.Add("<div>\n*x* ![a](b) <br> &#0; \\* <p>\n\nterm\n: definition\n")
	f.Fuzz(func(t *testing.T, source string) {
		nativetest.Fuzz(t, markdown.New(), extract.Markdown, []byte(source))
	})
}

// TestMarks: text that costs the parser quadratic time is cut into slices with few marks, without loss.
func TestMarks(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"[a](", "*a_ ", "[]( ", "[a]\n"} {
		text := strings.Repeat(unit, 20_000)
		doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte("# t\n\n"+text), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		letters, want := 0, strings.Count(text, "a")
		for _, b := range doc.Blocks {
			letters += strings.Count(b.Text, "a")
		}
		if letters != want || len(doc.Blocks) < 5 {
			t.Errorf("%q: %d letters in %d blocks, want %d", unit, letters, len(doc.Blocks), want)
		}
	}
}

// TestNesting: a line within too many quotations or lists is refused before it is parsed; a thematic break is
// not.
func TestNesting(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{">", "> ", "1. ", "+ ", "- > ", "2) "} {
		nativetest.Refuses(t, markdown.New(), extract.Markdown, []byte("a\n\n"+strings.Repeat(unit, 5000)+"a\n"),
			extract.Limits{}, taskerr.CorruptionDetected, "nested deeper than 128")
	}
	for _, text := range []string{strings.Repeat("- ", 5000), strings.Repeat("* ", 5000), "```\n" + strings.Repeat("> ",
		5000) + "\n```"} {
		if _, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte("a\n\n"+text+"\n\nb\n"),
			extract.Limits{}); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
