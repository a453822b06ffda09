package chunk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// sliced is a table in slices, as extractors emit it.
func sliced(t *testing.T, headers int, rows [][]extract.Cell) (blocks []extract.Block) {
	t.Helper()
	w := extract.NewTableWriter(func(b extract.Block) error {
		blocks = append(blocks, b)
		return nil
	}, extract.Block{})
	for i, row := range rows {
		w.Row(row, i < headers)
		if w.Full() {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// The slices of a long table are not seen in its chunks: a row that is inserted at the top moves the ends of all of them.
func TestSlicesOfATableAreNotSeen(t *testing.T) {
	t.Parallel()
	ledger := newAuthor(4).ledger()[0].Table.Rows
	wide := make([]extract.Cell, 60)
	for i := range wide {
		wide[i].Text = fmt.Sprintf("A column with the number %d", i)
	}
	long := slices.Clone(ledger)
	for i := 500; i < len(long); i += 500 { // the last ones of their slices
		long[i] = []extract.Cell{{Text: "x"}, {Text: "1"}, {Text: newAuthor(uint64(i)).stream()[0].Text[:6000]}}
	}
	for name, tt := range map[string]struct {
		headers int
		rows    [][]extract.Cell
	}{
		"a header":              {1, ledger},
		"no header":             {0, ledger},
		"a header of two rows":  {2, ledger},
		"too long to repeat it": {1, slices.Concat([][]extract.Cell{wide}, ledger)},
		"long rows":             {1, long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counter := caching{}
			blocks := sliced(t, tt.headers, tt.rows)
			if len(blocks) < 6 {
				t.Fatalf("%d slices", len(blocks))
			}
			row := []extract.Cell{{Text: "new"}, {Text: "7"}, {Text: "inserted at the top"}}
			edited := sliced(t, tt.headers, slices.Insert(slices.Clone(tt.rows), tt.headers, row))
			before := keys(t, counter, blocks)
			if n := fresh(t, counter, before, edited); n < 1 || n > 3 {
				t.Errorf("a row inserted at the top changes %d of %d chunks", n, len(before))
			}
			one := extract.Block{Kind: extract.TableKind, Table: &extract.Table{Rows: tt.rows, Headers: tt.headers}}
			if n := fresh(t, counter, before, []extract.Block{one}); n > 0 {
				t.Errorf("in one slice %d of %d chunks are others", n, len(before))
			}
		})
	}
}

// A slice continues only the rows of its own table; after anything else it begins with its header.
func TestSliceAfterAnotherBlock(t *testing.T) {
	t.Parallel()
	slice := func(header, name string) extract.Block {
		rows := []string{header}
		for i := range 60 {
			rows = append(rows, fmt.Sprintf("%s %d|%s", name, i, strings.Repeat("cell ", 20)))
		}
		return table(1, rows...)
	}
	next := func(header string) extract.Block {
		b := slice(header, "b")
		b.Table.Continued = true
		return b
	}
	first := slice("A|B", "a")
	for name, tt := range map[string]struct {
		blocks []extract.Block
		header bool
	}{
		"its own":         {[]extract.Block{first, next("A|B")}, false},
		"another header":  {[]extract.Block{first, next("A|C")}, true},
		"text between":    {[]extract.Block{first, para("Text."), next("A|B")}, true},
		"a table between": {[]extract.Block{first, table(1, "A|B", "c|d"), next("A|B")}, true},
		"a heading":       {[]extract.Block{first, head(1, "H"), next("A|B")}, true},
		"not continued":   {[]extract.Block{first, slice("A|B", "b")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for _, c := range chunks(t, chunk.Config{}, tt.blocks...) {
				above, _, ok := strings.Cut(c.Content, "\n| b 0 |")
				if !ok {
					continue
				}
				found++
				if strings.HasSuffix(above, "| --- | --- |") != tt.header {
					t.Errorf("above the slice's first row is %q", above[max(0, len(above)-40):])
				}
			}
			if found != 1 {
				t.Errorf("the slice's first row is in %d chunks", found)
			}
		})
	}
}

// A chunk that begins within the rows of a merged cell repeats its text, if that is short. Other rows don't.
func TestChunkWithinAMergedCellRepeatsIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		group   string
		headers int
		repeats bool
	}{
		"short":          {"The group | of", 1, true},
		"without header": {"Group", 0, true},
		"long":           {"Group " + strings.Repeat("of many words ", 20), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := [][]extract.Cell{{{Text: "Group"}, {Text: "Item"}, {Text: "Both"}}}[:tt.headers]
			for i := range 600 {
				cells := []extract.Cell{{Text: fmt.Sprint("item ", i)}, {Text: newAuthor(uint64(i)).sentence()}}
				if i%30 == 0 {
					cells = slices.Insert(cells, 0, extract.Cell{Text: fmt.Sprint(tt.group, i/30), RowSpan: 30})
				}
				rows = append(rows, cells)
			}
			block := extract.Block{Kind: extract.TableKind, Table: &extract.Table{Rows: rows, Headers: tt.headers}}
			within := 0
			for _, c := range chunks(t, chunk.Config{}, block) {
				lines := strings.Split(c.Content, "\n")
				for k, line := range lines[min(len(lines), 2*tt.headers):] {
					group, rest, _ := strings.Cut(line, " | item ")
					var i int
					if _, err := fmt.Sscan(rest, &i); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					want := "| "
					if i%30 == 0 || k == 0 && tt.repeats {
						want += strings.ReplaceAll(fmt.Sprint(tt.group, i/30), "|", `\|`)
					}
					if group != want {
						t.Errorf("line %d begins with %q, want %q", k, group, want)
					}
					if k == 0 && i%30 > 0 {
						within++
					}
				}
			}
			if within < 10 {
				t.Errorf("%d chunks begin within a group", within)
			}
		})
	}
}
