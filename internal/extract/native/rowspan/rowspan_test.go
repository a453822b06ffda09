package rowspan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rowspan"
)

// row is a row of texts. "A:2x3" spans two columns and three rows.
func row(texts ...string) (cells []extract.Cell) {
	for _, text := range texts {
		c := extract.Cell{Text: text}
		if name, size, ok := strings.Cut(text, ":"); ok {
			c = extract.Cell{Text: name, ColSpan: int(size[0] - '0'), RowSpan: int(size[2] - '0')}
		}
		cells = append(cells, c)
	}
	return cells
}

// TestSlices: a slice that ends within cells that span rows does not change what a row reads as.
func TestSlices(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 201)
	for _, tt := range []struct {
		what    string
		headers int
		rows    [][]extract.Cell
	}{
		{what: "at the left", rows: [][]extract.Cell{row("A:1x4", "b"), row("c", "d"), row("e"), row("f"), row("g", "h")}},
		{what: "in the middle", rows: [][]extract.Cell{row("a", "B:1x3", "c"), row("d", "e"), row("f", "g"), row("h", "i", "j")}},
		{what: "at the right", rows: [][]extract.Cell{row("a", "b", "c", "D:2x4"), row("e"), row("f"), nil, row("g")}},
		{what: "over columns", rows: [][]extract.Cell{row("A:2x3", "b", "C:1x2"), row("d"), row("e", "f"), row("g", "h", "i", "j")}},
		{what: "one after the other", rows: [][]extract.Cell{row("A:1x2", "B:1x4"), nil, row("C:1x2"), nil, row("d", "e")}},
		{what: "steps", rows: [][]extract.Cell{row("a", "b", "C:1x4"), row("d", "E:1x3"), row("F:1x2"), nil, row("g", "h", "i")}},
		{
			what: "a header", headers: 2,
			rows: [][]extract.Cell{row("A:1x2", "B:2x1"), row("c", "d"), row("E:1x3", "f", "g"), row("h", "i"), row("j", "k")},
		},
		{
			what: "a header of tall cells", headers: 1,
			rows: [][]extract.Cell{row("A:1x3", "b", "C:1x4"), row("d"), row("e"), row("f", "g"), row("h", "i", "j")},
		},
		{
			what: "two headers of tall cells", headers: 2,
			rows: [][]extract.Cell{row("A:1x4", "B:2x1"), row("c", "D:1x2"), row("e"), row("f", "g"), row("h", "i", "j")},
		},
		{what: "a long text", rows: [][]extract.Cell{{{Text: long, RowSpan: 3}, {Text: "b"}}, row("c"), row("d")}},
	} {
		whole := extract.Table{Rows: tt.rows}
		want := whole.Grid()
		for at := range tt.rows {
			var got [][]string
			w := rowspan.New(func(b extract.Block) error {
				grid := b.Table.Grid()
				if b.Table.Continued {
					grid = grid[b.Table.Headers:]
				}
				got = append(got, grid...)
				return nil
			}, extract.Block{})
			for i, cells := range tt.rows {
				w.Row(slices.Clone(cells), i < tt.headers)
				if i == at && i >= tt.headers {
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Flush(); err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Errorf("%s, cut after row %d: got %q, %v; want %q", tt.what, at, got, err, want)
			}
		}
	}
}
