package enrich_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
)

func heading(level, page int, text string) extract.Block {
	return extract.Block{Kind: extract.Heading, Level: level, Page: page, Text: text}
}

func paragraph(text string) extract.Block { return extract.Block{Kind: extract.Paragraph, Text: text} }

// outlineOf runs blocks through a Collector and a real chunker, and returns the outline and the chunks'
// contents.
func outlineOf(t *testing.T, blocks ...extract.Block) (enrich.Outline, []string) {
	t.Helper()
	c := enrich.NewCollector()
	var contents []string
	chunker := chunk.New(chunk.Config{Counter: token.New()}, func(k chunk.Chunk) error {
		c.Chunk(k)
		contents = append(contents, k.Content)
		return nil
	})
	for _, b := range blocks {
		c.Block(b)
		if err := chunker.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := chunker.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Finish(extract.Info{}).Outline, contents
}

// Each heading is anchored to its chunk.
func TestOutline(t *testing.T) {
	t.Parallel()
	var blocks []extract.Block
	long := strings.TrimSpace(strings.Repeat("A very long heading that goes on. ", 200)) // spans several chunks
	for i := range 30 {
		blocks = append(blocks, heading(1, i+1, fmt.Sprintf("Chapter %d", i)),
			heading(2, i+1, fmt.Sprintf("Section\n %d", i)),
			paragraph(strings.Repeat(fmt.Sprintf("Text of chapter %d. ", i), 10+20*(i%3))), heading(1, 0, " \n "))
	}
	blocks = append(blocks, heading(3, 31, long), paragraph("Its text."), heading(12, 31, "The last"))
	outline, contents := outlineOf(t, blocks...)
	if len(outline.Entries) != 62 || outline.Omitted != 0 {
		t.Fatalf("%d entries, %d left out", len(outline.Entries), outline.Omitted)
	}
	for _, e := range outline.Entries {
		name := e.Text
		if len(name) > 40 {
			name = name[:40]
		}
		if e.Chunk == nil || !strings.Contains(strings.ReplaceAll(contents[*e.Chunk], "\n", " "), name) {
			t.Errorf("%+v is not in its chunk", e)
		}
	}
	if e := outline.Entries[3]; e.Level != 2 || e.Page != 2 || e.Text != "Section 1" {
		t.Errorf("%+v", e)
	}
	if e := outline.Entries[60]; len(e.Text) > 310 || !strings.HasSuffix(e.Text, "…") {
		t.Errorf("the long one: %+v", e)
	}
	if e := outline.Entries[61]; e.Level != 9 {
		t.Errorf("the deepest: %+v", e)
	}
}

// Of too many headings the deeper ones are dropped; the others keep their anchors.
func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		levels func(i int) int
		want   int
		levelN int // the deepest level that is kept
	}{
		"sections in chapters":   {func(i int) int { return 1 + min(i%100, 1) }, 30, 1},
		"three levels":           {func(i int) int { return []int{1, 3, 2, 3, 3}[i%5] }, 0, 2},
		"all of one":             {func(int) int { return 2 }, 500, 2},
		"deeper ones after many": {func(i int) int { return 1 + i/1000 }, 500, 1},
		"a higher one after many": {func(i int) int {
			if i == 2900 {
				return 1
			}
			return 2
		}, 500, 2},
	} {
		c := enrich.NewCollector()
		for i := range 3000 {
			c.Block(heading(tt.levels(i), 0, fmt.Sprint("Heading ", i)))
			c.Chunk(chunk.Chunk{Position: i, Headings: 1, Content: "x"})
		}
		o := c.Finish(extract.Info{}).Outline
		if len(o.Entries) > 500 || tt.want > 0 && len(o.Entries) != tt.want || len(o.Entries)+o.Omitted != 3000 {
			t.Errorf("%s: %d entries, %d left out, want %d", what, len(o.Entries), o.Omitted, tt.want)
		}
		for _, e := range o.Entries {
			if e.Level > tt.levelN || e.Chunk == nil || e.Text != fmt.Sprint("Heading ", *e.Chunk) {
				t.Fatalf("%s: %+v", what, e)
			}
		}
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		declared string
		blocks   []extract.Block
		want     string
		source   enrich.TitleSource
	}{
		"stated": {"The Report", []extract.Block{heading(1, 1, "Other")}, "The Report", enrich.FromMetadata},
		"first of highest": {"", []extract.Block{heading(2, 1, "Small"), heading(1, 1, "The\nTitle"), heading(1, 2,
			"Chapter")}, "The Title", enrich.FromHeading},
		"not a part's name": {"", []extract.Block{heading(1, 1, "Contents"), heading(1, 1, "1. Abstract"), heading(1, 1,
			"Harbours")}, "Harbours", enrich.FromHeading},
		"no headings":    {"", []extract.Block{paragraph("Text")}, "", enrich.NoTitle},
		"too far in":     {"", []extract.Block{heading(1, 4, "On page four")}, "", enrich.NoTitle},
		"a sheet's name": {"", []extract.Block{heading(1, 1, "Sheet1")}, "", enrich.NoTitle},
		"only a number":  {"", []extract.Block{heading(1, 1, "2024")}, "", enrich.NoTitle},
	} {
		c := enrich.NewCollector()
		for _, b := range tt.blocks {
			c.Block(b)
		}
		if d := c.Finish(extract.Info{Title: tt.declared}); d.Title != tt.want || d.TitleSource != tt.source {
			t.Errorf("%s: %q from %q", what, d.Title, d.TitleSource)
		}
	}
	c := enrich.NewCollector()
	for range 100 {
		c.Block(paragraph("Text"))
	}
	c.Block(heading(1, 0, "Late"))
	if d := c.Finish(extract.Info{}); d.Title != "" {
		t.Errorf("a late heading is the title: %q", d.Title)
	}
}
