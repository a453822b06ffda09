package fit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fit"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// cell makes a cell that spans rows.
func cell(text string, rows int) deck.Cell { return deck.Cell{Text: *deck.Lines(text), RowSpan: rows} }

// grid makes a table of two columns below a header, of the texts of the second; the first has cells of its own.
func grid(first map[int]deck.Cell, second ...string) *deck.Table {
	t := &deck.Table{Columns: []int64{1500000, 4500000}, Headers: 1, Rows: []deck.Row{{Cells: []deck.Cell{cell("H1", 1), cell("H2", 1)}}}}
	for i, text := range second {
		row := deck.Row{Cells: []deck.Cell{cell(text, 1)}}
		if c, ok := first[i]; ok {
			row.Cells = slices.Insert(row.Cells, 0, c)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// short is n texts of one word.
func short(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("row", i))
	}
	return all
}

// smallest is the smallest size of a table's text.
func smallest(t *deck.Table) float64 {
	least := float64(deck.DefaultSize)
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			for _, p := range c.Text.Paragraphs {
				for _, r := range p.Runs {
					if r.Size > 0 {
						least = min(least, r.Size)
					}
				}
			}
		}
	}
	return least
}

// TestHighRows: a row that is higher than a slide, or a cell that spans more rows than one has, does not push the rest of
// its table off the slide, or make it too small to read. A second time nothing changes.
func TestHighRows(t *testing.T) {
	t.Parallel()
	labels := func(rows ...int) map[int]deck.Cell {
		cells, at := map[int]deck.Cell{}, 0
		for _, n := range rows {
			cells[at] = cell(fmt.Sprint("label", len(cells)), n)
			at += n
		}
		return cells
	}
	ones := func(n int) map[int]deck.Cell { return labels(slices.Repeat([]int{1}, n)...) }
	high := words(330, 0)
	stated := grid(ones(30), short(30)...)
	stated.Rows[1].Height = 9_000_000
	header := grid(map[int]deck.Cell{40: cell("last", 1)}, short(41)...)
	header.Rows[0].Cells[0].RowSpan = 41
	gap := grid(nil, short(40)...)
	gap.Rows[1].Cells[0].RowSpan = 2 // of the first column: the second has none in the rows that it spans
	gap.Rows[1].Cells = append(gap.Rows[1].Cells, cell("tall", 40))
	for i := range gap.Rows[2:] {
		gap.Rows[i+2].Cells, gap.Rows[i+2].Height = nil, 500_000
	}
	alone := grid(nil)
	alone.Rows[0].Cells[1] = cell(high, 1)
	for name, c := range map[string]struct {
		table    *deck.Table
		unit     string // begins the words that are on one slide each
		readable float64
		slides   int
	}{
		"a high row first":       {grid(ones(31), append([]string{high}, short(30)...)...), "row", 5, 3},
		"a high row within":      {grid(ones(31), slices.Insert(short(30), 15, high)...), "row", 5, 3},
		"only high rows":         {grid(ones(4), high, high, high, high), "label", 5, 4},
		"a row that says so":     {stated, "row", 9, 3},
		"a cell of all rows":     {grid(labels(60), short(60)...), "row", 9, 4},
		"cells of many rows":     {grid(labels(25, 3, 32), short(60)...), "row", 9, 5},
		"a long text beside":     {grid(map[int]deck.Cell{0: cell(words(120, 0), 3)}, short(3)...), "word", 5, 1},
		"a header of many rows":  {header, "row", 9, 3},
		"rows of too few cells":  {gap, "row", 9, 4},
		"a header and no rows":   {alone, "word", 4, 1},
		"a cell of many at once": {grid(labels(2, 60, 2), short(64)...), "row", 9, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := slide(deck.Element{Kind: deck.TableElement, Table: c.table, Box: &deck.Box{X: 500000, Y: 1417320, W: 6000000, H: 100}})
			got, warnings := warned(t, d)
			overfull(t, got)
			if err := got.Check(); err != nil || len(warnings) > 0 {
				t.Errorf("%v, %q", err, warnings)
			}
			unit := func(d *deck.Deck) []string {
				return slices.DeleteFunc(strings.Fields(text(d)), func(word string) bool { return !strings.HasPrefix(word, c.unit) })
			}
			if !slices.Equal(unit(got), unit(d)) {
				t.Errorf("the words changed: %q", unit(got))
			}
			rows := 0
			for i, s := range got.Slides {
				table := s.Elements[1].Table
				if rows += len(table.Rows) - 1; smallest(table) < c.readable {
					t.Errorf("slide %d has text of %g points", i+1, smallest(table))
				}
			}
			if rows != len(c.table.Rows)-1 || len(got.Slides) != c.slides {
				t.Errorf("%d slides with %d rows, want %d with %d", len(got.Slides), rows, c.slides, len(c.table.Rows)-1)
			}
			if again := fitted(t, got); len(again.Slides) != len(got.Slides) {
				t.Errorf("then it has %d slides", len(again.Slides))
			}
		})
	}
}

// TestSpansAreCut: each part of a cell that spans several slides has the cell's text, and spans the rows of its slide.
func TestSpansAreCut(t *testing.T) {
	t.Parallel()
	table := grid(map[int]deck.Cell{0: cell("label", 60)}, short(60)...)
	d := slide(deck.Element{Kind: deck.TableElement, Table: table, Box: &deck.Box{X: 500000, Y: 1417320, W: 6000000, H: 100}})
	got := fitted(t, d)
	for i, s := range got.Slides {
		part := s.Elements[1].Table
		if first := part.Rows[1].Cells[0]; first.Text.Plain() != "label" || first.RowSpan != len(part.Rows)-1 {
			t.Errorf("slide %d: %q spans %d of %d rows", i+1, first.Text.Plain(), first.RowSpan, len(part.Rows)-1)
		}
	}
	if table.Rows[1].Cells[0].RowSpan != 60 {
		t.Error("the deck itself was changed")
	}
}

// TestTooHigh: a row that does not fit a slide in any size has one warning, and the rows behind it are not affected.
func TestTooHigh(t *testing.T) {
	t.Parallel()
	table := grid(map[int]deck.Cell{0: cell("a", 1), 1: cell("b", 1), 2: cell("c", 1)}, words(4000, 0), words(4000, 0), "last")
	d := slide(deck.Element{Kind: deck.TableElement, Table: table, Box: &deck.Box{X: 500000, Y: 1417320, W: 6000000, H: 100}})
	got, warnings := warned(t, d)
	if len(got.Slides) != 3 || len(warnings) != 1 || !strings.Contains(warnings[0], "higher than a slide") {
		t.Fatalf("%d slides, %q", len(got.Slides), warnings)
	}
	if last := got.Slides[2].Elements[1].Table; len(last.Rows) != 2 || smallest(last) < deck.DefaultSize {
		t.Errorf("the last slide has %d rows of %g points", len(last.Rows), smallest(last))
	}
}

// TestNoRoom: a table at the lower edge of its slide stays there, with a warning: its rows would have a slide each.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	d := slide(deck.Element{Kind: deck.TableElement, Table: grid(nil, short(30)...), Box: &deck.Box{Y: 6_200_000, W: 6_000_000, H: 100}})
	if got, warnings := warned(t, d); len(got.Slides) != 1 || len(warnings) != 1 {
		t.Errorf("%d slides, %q", len(got.Slides), warnings)
	}
}

// TestManyHeaderRows: where most rows are headers they are not repeated: the parts would have many times the table's rows.
func TestManyHeaderRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows, headers int
		second        string // cells of the rows that are no headers
	}{
		"half of a long table":  {5000, 2500, "b"},
		"more than a slide has": {600, 60, "b"},
		"all":                   {400, 400, "b"},
		"higher than the rest":  {120, 8, strings.Repeat("long ", 500)},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			table := &deck.Table{Columns: []int64{1500000, 4500000}, Headers: c.headers}
			for i := range c.rows {
				second := "a"
				if i >= c.headers {
					second = c.second
				}
				table.Rows = append(table.Rows, deck.Row{Cells: []deck.Cell{cell(fmt.Sprint("row", i), 1), cell(second, 1)}})
			}
			box := &deck.Box{X: 500000, Y: 1417320, W: 6000000, H: 100}
			got := fitted(t, slide(deck.Element{Kind: deck.TableElement, Table: table, Box: box}))
			seen, rows := map[string]bool{}, 0
			for _, s := range got.Slides {
				part := s.Elements[1].Table
				rows += len(part.Rows)
				for _, row := range part.Rows {
					seen[row.Cells[0].Text.Plain()] = true
				}
			}
			if len(seen) != c.rows || rows > 2*c.rows || len(got.Slides) < 5 {
				t.Errorf("%d of %d rows on %d slides with %d", len(seen), c.rows, len(got.Slides), rows)
			}
			if table.Headers != c.headers {
				t.Error("the deck itself was changed")
			}
		})
	}
}

// TestCanceled: dividing ends with its context.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fit.Fit(ctx, slide(), typeset.Typical{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
