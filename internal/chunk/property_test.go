package chunk_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
)

var counter = token.New()

// chunks cuts blocks with the default configuration, except for the given fields.
func chunks(t testing.TB, config chunk.Config, blocks ...extract.Block) []chunk.Chunk {
	t.Helper()
	if config.Counter == nil {
		config.Counter = counter
	}
	var all []chunk.Chunk
	c := chunk.New(config, func(c chunk.Chunk) error {
		all = append(all, c)
		return nil
	})
	for _, b := range blocks {
		if err := c.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// bare is a text without white space, and without what Markdown adds to a cell.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\\' {
			return -1
		}
		return r
	}, text)
}

type failer interface {
	Fatalf(format string, args ...any)
}

// wantSound checks the invariants of the chunks of any document.
func wantSound(t failer, config chunk.Config, blocks []extract.Block, all []chunk.Chunk) {
	var whole strings.Builder
	for i, c := range all {
		whole.WriteString(c.Content)
		switch {
		case c.Position != i:
			t.Fatalf("chunk %d has position %d", i, c.Position)
		case strings.TrimSpace(c.Content) == "" || !strings.HasSuffix(c.Embedded, c.Content):
			t.Fatalf("chunk %d: content %q, embedded %q", i, c.Content, c.Embedded)
		case !utf8.ValidString(c.Embedded):
			t.Fatalf("chunk %d is not UTF-8: %q", i, c.Embedded)
		case c.Tokens != config.Counter.Count(c.Embedded):
			t.Fatalf("chunk %d says %d tokens and has %d", i, c.Tokens, config.Counter.Count(c.Embedded))
		case c.Tokens > config.Max:
			t.Fatalf("chunk %d has %d tokens, at most %d are allowed: %q", i, c.Tokens, config.Max, c.Embedded)
		case !slices.IsSorted(c.Pages) || len(slices.Compact(slices.Clone(c.Pages))) != len(c.Pages):
			t.Fatalf("chunk %d has pages %v", i, c.Pages)
		case len(c.Key) != 64 || c.HeadingPath == nil || c.Pages == nil:
			t.Fatalf("chunk %d lacks something: %+v", i, c)
		case !slices.Contains([]string{chunk.Text, chunk.List, chunk.Table, chunk.Code}, c.Kind):
			t.Fatalf("chunk %d is a %q", i, c.Kind)
		}
	}
	text := bare(whole.String())
	for i, b := range blocks {
		for _, part := range parts(b) {
			if !strings.Contains(text, bare(part)) {
				t.Fatalf("of block %d (%s) this is lost: %q\nin %q", i, b.Kind, part, text)
			}
		}
	}
}

// parts returns the texts of a block that must be found in one piece.
func parts(b extract.Block) []string {
	found := []string{b.Text}
	if b.Table != nil {
		for _, row := range b.Table.Rows {
			for _, cell := range row {
				found = append(found, cell.Text)
			}
		}
	}
	return found
}

func textGenerator() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.StringMatching(`[A-Z]?[a-zäß]{1,11}[.,:?]?`), 1, 400).Draw(t,
				"words"), " ")
		}),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringMatching(`[a-zäß]{1,40}[.]? ?`).Draw(t, "again"),
				rapid.IntRange(1, 300).Draw(t, "times"))
		}),
		rapid.StringN(0, 300, -1),
		rapid.StringMatching(`[\p{Han}\p{Hiragana}。、]{0,200}`),
		rapid.StringMatching(`[a-zA-Z0-9+/]{0,900}`),
		rapid.StringMatching(`([a-z]{0,9}[ \n\t|]{0,9}){0,90}`),
		rapid.Just(""),
	)
}

func blockGenerator() *rapid.Generator[extract.Block] {
	kinds := []extract.Kind{
		extract.Heading, extract.Paragraph, extract.Paragraph, extract.ListItem, extract.TableKind, extract.Code,
		extract.Caption, extract.Picture,
	}
	return rapid.Custom(func(t *rapid.T) extract.Block {
		b := extract.Block{
			Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
			Level: rapid.IntRange(0, 7).Draw(t, "level"),
			Page:  rapid.IntRange(0, 5).Draw(t, "page"),
		}
		if b.Kind != extract.TableKind {
			b.Text = textGenerator().Draw(t, "text")
			return b
		}
		cell := rapid.Custom(func(t *rapid.T) extract.Cell {
			text := rapid.OneOf(rapid.StringMatching(`[a-z0-9 |]{0,12}`), textGenerator()).Draw(t, "cell")
			return extract.Cell{
				Text: text, ColSpan: rapid.IntRange(0, 3).Draw(t, "colspan"),
				RowSpan: rapid.IntRange(0, 3).Draw(t, "rowspan"),
			}
		})
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, 0, 4), 0, 12).Draw(t, "rows")
		b.Table = &extract.Table{Rows: rows, Headers: rapid.IntRange(0, 3).Draw(t, "headers")}
		return b
	})
}

// For any document, nothing is lost, and no chunk is too long.
func TestChunksAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config := chunk.Config{
			Title:   rapid.OneOf(rapid.Just(""), textGenerator()).Draw(t, "title"),
			Max:     rapid.SampledFrom([]int{64, 100, 400, 800}).Draw(t, "max"),
			Counter: counter, Model: "m", Dimensions: 8,
		}
		config.Target = rapid.IntRange(1, config.Max).Draw(t, "target")
		config.Min = rapid.IntRange(1, config.Target).Draw(t, "min")
		blocks := rapid.SliceOfN(blockGenerator(), 0, 60).Draw(t, "blocks")
		var all []chunk.Chunk
		c := chunk.New(config, func(c chunk.Chunk) error { all = append(all, c); return nil })
		for _, b := range blocks {
			if err := c.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		wantSound(t, config, blocks, all)
	})
}

// FuzzChunk makes blocks of lines: "#" a heading, "-" a list item, "|" a row of a table, otherwise a paragraph.
func FuzzChunk(f *testing.F) {
	f.Add("# Title\n\nA paragraph.\n- one\n- two\n|a|b|\n|1|2|\n", "doc", uint16(64))
	f.Add(strings.Repeat("word ", 900), "", uint16(100))
	f.Add("|"+strings.Repeat("h", 400)+"|\n|"+strings.Repeat("long cell. ", 90)+"|x|", "t", uint16(80))
	f.Fuzz(func(t *testing.T, text, title string, most uint16) {
		text, title = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(title, "?")
		config := chunk.Config{Title: title, Max: 64 + int(most)%900, Counter: counter}
		config.Target, config.Min = config.Max/2, config.Max/16
		blocks := fromLines(text)
		wantSound(t, config, blocks, chunks(t, config, blocks...))
	})
}

func fromLines(text string) (blocks []extract.Block) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			name := strings.TrimLeft(line, "#")
			blocks = append(blocks, extract.Block{Kind: extract.Heading, Level: len(line) - len(name), Text: name})
		case strings.HasPrefix(line, "-"):
			blocks = append(blocks, extract.Block{Kind: extract.ListItem, Text: line[1:]})
		case strings.HasPrefix(line, "\t"):
			blocks = append(blocks, extract.Block{Kind: extract.Code, Text: strings.ReplaceAll(line, "\t", "\n\t")})
		case strings.HasPrefix(line, "|"):
			var row []extract.Cell
			for cell := range strings.SplitSeq(line[1:], "|") {
				row = append(row, extract.Cell{Text: cell})
			}
			if n := len(blocks); n > 0 && blocks[n-1].Table != nil {
				blocks[n-1].Table.Rows = append(blocks[n-1].Table.Rows, row)
				continue
			}
			blocks = append(blocks, extract.Block{
				Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{row}, Headers: 1},
			})
		default:
			blocks = append(blocks, extract.Block{Kind: extract.Paragraph, Text: line})
		}
	}
	return blocks
}
