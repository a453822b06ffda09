package chunk

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
)

// hostile returns documents made to be slow or large to cut, of size bytes each.
func hostile(size int) map[string][]extract.Block {
	repeat := func(b extract.Block, n int) []extract.Block {
		blocks := make([]extract.Block, n)
		for i := range blocks {
			blocks[i] = b
		}
		return blocks
	}
	one := func(kind extract.Kind, unit string) []extract.Block {
		return []extract.Block{{Kind: kind, Text: strings.Repeat(unit, size/len(unit))}}
	}
	cell := []extract.Cell{{Text: "a"}}
	long := strings.Repeat("word ", 250)
	var rows [][]extract.Cell
	for range size / len(long) {
		rows = append(rows, []extract.Cell{{Text: long}})
	}
	return map[string][]extract.Block{
		"one letter":        one(extract.Paragraph, "a"),
		"blanks, line ends": one(extract.Code, "x \n \n"),
		"blanks":            one(extract.Code, "x                "),
		"full stops":        one(extract.Paragraph, ". "),
		"long sentences":    one(extract.Paragraph, long+"ends. So "),
		"long lines":        one(extract.Code, long+"\n"),
		"long rows":         {{Kind: extract.TableKind, Table: &extract.Table{Rows: rows}}},
		"one long heading":  one(extract.Heading, "heading "),
		"one code line":     one(extract.Code, "x+=1;"),
		"accents":           one(extract.Paragraph, "\u0301"),
		"one cell": {{Kind: extract.TableKind, Table: &extract.Table{
			Headers: 1,
			Rows:    [][]extract.Cell{cell, {{Text: strings.Repeat("word ", size/5)}}},
		}}},
		"a header of all": {{Kind: extract.TableKind, Table: &extract.Table{
			Headers: 1 << 30,
			Rows:    [][]extract.Cell{cell, {{Text: strings.Repeat("word ", size/5)}}},
		}}},
		"wide spans": {{
			Kind: extract.TableKind,
			Table: &extract.Table{
				Rows: [][]extract.Cell{{{Text: "a", ColSpan: 1 << 30, RowSpan: 1 << 30}, {Text: "b"}}, cell},
			},
		}},
		"small headings": repeat(extract.Block{Kind: extract.Heading, Level: 2, Text: "a"}, size/8),
		"deep headings": append([]extract.Block{{Kind: extract.Heading, Level: 1, Text: "a"}},
			repeat(extract.Block{Kind: extract.Heading, Level: 3, Text: "a"}, size/8)...),
		"small items":    repeat(extract.Block{Kind: extract.ListItem, Text: "a"}, size/8),
		"small captions": repeat(extract.Block{Kind: extract.Caption, Text: "a"}, size/8),
	}
}

// The chunker holds about one chunk, however long the document or its blocks are.
func TestWhatIsHeldIsBounded(t *testing.T) {
	t.Parallel()
	counter := token.New()
	for name, blocks := range hostile(1 << 15) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c *Chunker
			check := func() {
				if bound := 2 * c.config.Max; c.total > bound {
					t.Fatalf("%d tokens are held, more than %d", c.total, bound)
				}
			}
			n := 0
			c = New(Config{Title: strings.Repeat("title ", 1000), Counter: counter}, func(chunk Chunk) error {
				check()
				n++
				if chunk.Tokens > c.config.Max {
					t.Errorf("a chunk of %d tokens", chunk.Tokens)
				}
				return nil
			})
			for _, b := range blocks {
				if err := c.Add(b); err != nil {
					t.Fatal(err)
				}
				check()
			}
			if err := c.Close(); err != nil || n == 0 {
				t.Errorf("%d chunks, %v", n, err)
			}
		})
	}
}

// measured counts the bytes that it counts tokens of.
type measured struct {
	llm.Counter
	bytes int
}

func (m *measured) Count(text string) int {
	m.bytes += len(text)
	return m.Counter.Count(text)
}

// An error of emit, such as a cancellation, stops the work within a block of megabytes.
func TestErrorEndsTheWork(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, blocks := range hostile(1 << 20) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counter := &measured{Counter: token.New()}
			c := New(Config{Counter: counter}, func(Chunk) error { return stop })
			var err error
			for _, b := range blocks {
				if err = c.Add(b); err != nil {
					break
				}
			}
			if err == nil {
				err = c.Close()
			}
			if !errors.Is(err, stop) || counter.bytes > 128<<10 {
				t.Errorf("%v after %d KB of 1 MB were counted", err, counter.bytes>>10)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	counter := token.New()
	for name, blocks := range hostile(1 << 20) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := New(Config{Counter: counter}, func(Chunk) error { return nil })
				for _, block := range blocks {
					if err := c.Add(block); err != nil {
						b.Fatal(err)
					}
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Text is counted once to decide whether it fits and once in its chunk, and not in between.
func TestTextIsCountedTwice(t *testing.T) {
	t.Parallel()
	counter := &measured{Counter: token.New()}
	c := New(Config{Counter: counter}, func(Chunk) error { return nil })
	text := strings.Repeat("harbour crane tide quay ", 50)
	const blocks = 200
	for range blocks {
		if err := c.Add(extract.Block{Kind: extract.Paragraph, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if most := blocks * len(text) * 22 / 10; counter.bytes > most {
		t.Errorf("%d KB were counted of %d", counter.bytes>>10, blocks*len(text)>>10)
	}
}

// TestSpansAreBounded: a small table of wide and tall cells has no rows without end, nor more and more of them.
func TestSpansAreBounded(t *testing.T) {
	t.Parallel()
	wide := make([]extract.Cell, 10_000)
	for i := range wide {
		wide[i] = extract.Cell{Text: "x", ColSpan: 64, RowSpan: 60_000}
	}
	rows := make([][]extract.Cell, 10_000)
	rows[0] = wide
	for i := range rows[1:] {
		rows[i+1] = []extract.Cell{{Text: "y"}}
	}
	var g grid
	positions := 0
	for i, cells := range rows {
		values, _ := g.next(cells)
		if positions += len(values); len(values) > maxColumns+len(cells) {
			t.Fatalf("row %d has %d columns", i, len(values))
		}
		if values[len(values)-1] != cells[len(cells)-1].Text {
			t.Fatalf("row %d has lost its text", i)
		}
	}
	if most := maxSpanned + maxColumns + len(wide) + len(rows); positions > most {
		t.Errorf("%d positions, at most %d", positions, most)
	}
}
