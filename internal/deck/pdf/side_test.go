package pdf_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// edges are the left edges of the words of a PDF's first page, by word.
func edges(t *testing.T, content []byte) map[string]float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftotext", "-bbox", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Words []struct {
			Left float64 `xml:"xMin,attr"`
			Text string  `xml:",chardata"`
		} `xml:"body>doc>page>word"`
	}
	if err := xml.Unmarshal(out, &page); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := map[string]float64{}
	for _, w := range page.Words {
		all[w.Text] = w.Left
	}
	return all
}

// TestSides: the bullet of a paragraph that is written from right to left, as it says or its style, is at its right, and
// so is the first column of such a table.
func TestSides(t *testing.T) {
	t.Parallel()
	list := func(st deck.Style, p deck.Paragraph) deck.Element {
		st.List, st.Margin, st.Indent = &deck.List{Kind: deck.BulletList, Char: "*"}, 400000, -300000
		p.Runs = []deck.Run{{Text: "Harbour"}}
		return deck.Element{
			Kind: deck.TextElement, Box: &deck.Box{W: 6000000, H: 3000000},
			Text: &deck.Text{Paragraphs: []deck.Paragraph{p}, Styles: []deck.Style{st}},
		}
	}
	table := func(rtl bool) deck.Element {
		cell := func(text string) deck.Cell { return deck.Cell{Text: *deck.Lines(text)} }
		return deck.Element{Kind: deck.TableElement, Box: &deck.Box{W: 6000000, H: 3000000}, Table: &deck.Table{
			Columns: []int64{4000000, 2000000}, Rows: []deck.Row{{Cells: []deck.Cell{cell("*"), cell("Harbour")}}}, RTL: rtl,
		}}
	}
	for name, c := range map[string]struct {
		e     deck.Element
		right bool
	}{
		"a paragraph":             {list(deck.Style{}, deck.Paragraph{}), false},
		"one that says it":        {list(deck.Style{}, deck.Paragraph{RTL: new(true)}), true},
		"one whose style says it": {list(deck.Style{RTL: true}, deck.Paragraph{}), true},
		"one against its style":   {list(deck.Style{RTL: true}, deck.Paragraph{RTL: new(false)}), false},
		"a table":                 {table(false), false},
		"a table from the right":  {table(true), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deck.New("Sides")
			d.Slides = []deck.Slide{{Layout: "blank", Elements: []deck.Element{c.e}}}
			at := edges(t, write(t, d))
			bullet, ok := at["*"]
			word, found := at["Harbour"]
			if !ok || !found || bullet > word != c.right {
				t.Errorf("the words are at %v", at)
			}
			const half = 3000000 / 12700
			if wide := c.e.Text != nil; wide && (word > half) != c.right {
				t.Errorf("the text is at %v", word)
			}
		})
	}
}

// The runs of a Latin line keep their order where the style is written from right to left.
func TestRunsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]deck.Paragraph{"by its style": {}, "by itself": {RTL: new(true)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Runs = []deck.Run{{Text: "Harbour "}, {Text: "fees", Bold: new(true)}, {Text: " rise"}}
			d := deck.New("Order")
			d.Slides = []deck.Slide{{Layout: "blank", Elements: []deck.Element{{
				Kind: deck.TextElement, Box: &deck.Box{W: 6000000, H: 3000000},
				Text: &deck.Text{Paragraphs: []deck.Paragraph{p}, Styles: []deck.Style{{RTL: p.RTL == nil}}},
			}}}}
			if at := edges(t, write(t, d)); len(at) != 3 || at["Harbour"] >= at["fees"] || at["fees"] >= at["rise"] {
				t.Errorf("the words are at %v", at)
			}
		})
	}
}
