package compose_test

import (
	"fmt"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func document(t *testing.T, doc *extract.Document, pictures []compose.Picture, o compose.Options) *deck.Deck {
	t.Helper()
	d, err := compose.Document(t.Context(), doc, pictures, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestHeadersOfNumbers: numbers are at the right, and so are the headers of columns that have nothing else.
func TestHeadersOfNumbers(t *testing.T) {
	t.Parallel()
	row := func(texts ...string) (out []extract.Cell) {
		for _, text := range texts {
			out = append(out, extract.Cell{Text: text})
		}
		return out
	}
	doc := &extract.Document{Blocks: []extract.Block{{Kind: extract.TableKind, Table: &extract.Table{
		Headers: 1, Rows: [][]extract.Cell{row("Berth", "Fee", "Depth", ""), row("North", "95", "11", ""), row("South", "1,240 €", "deep", "")},
	}}}}
	for _, s := range document(t, doc, nil, compose.Options{Filename: "fees.csv"}).Slides {
		for _, e := range s.Elements {
			if e.Table == nil {
				continue
			}
			want := [][]deck.Align{{"", "right", "", ""}, {"", "right", "right", ""}, {"", "right", "", ""}}
			for i, row := range want {
				for k, align := range row {
					if got := e.Table.Rows[i].Cells[k].Text.Paragraphs[0].Align; got != align {
						t.Errorf("row %d, column %d: %q, want %q", i, k, got, align)
					}
				}
			}
			return
		}
	}
	t.Error("no slide has the table")
}

// TestPagesOfALongTable: each slide of a table names the pages of the rows that it has.
func TestPagesOfALongTable(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string]int{"narrow": 3, "wide": 25} {
		doc := &extract.Document{Blocks: []extract.Block{{Kind: extract.Heading, Level: 1, Text: "Fees", Page: 4}}}
		row := func(text string) (cells []extract.Cell) {
			for k := range columns {
				cells = append(cells, extract.Cell{Text: fmt.Sprintf("%s %d", text, k)})
			}
			return cells
		}
		for page := 4; page <= 12; page++ {
			table := &extract.Table{Headers: 1, Continued: page > 4, Rows: [][]extract.Cell{row("Berth")}}
			for n := range 7 {
				table.Rows = append(table.Rows, row(fmt.Sprintf("p%d.%d", page, n)))
			}
			doc.Blocks = append(doc.Blocks, extract.Block{
				Kind: extract.TableKind, Page: page, Table: table, Box: &extract.Box{Right: 1, Bottom: 1},
			})
		}
		slides := 0
		for _, s := range document(t, doc, nil, compose.Options{Filename: "fees.pdf"}).Slides {
			for _, e := range s.Elements {
				if e.Table == nil {
					continue
				}
				slides++
				rows := e.Table.Rows[1:]
				first, last := pageOf(rows[0]), pageOf(rows[len(rows)-1])
				want := fmt.Sprintf("Source: fees.pdf, pages %d–%d", first, last)
				if first == last {
					want, last = fmt.Sprintf("Source: fees.pdf, page %d", first), 0
				}
				if s.Notes != want || e.Source.Page != first || e.Source.Last != last || (e.Source.Area != nil) != (first == 4) {
					t.Errorf("%s: notes %q, want %q; the table is from %+v", name, s.Notes, want, e.Source)
				}
			}
		}
		if slides < 3 {
			t.Errorf("%s: %d slides", name, slides)
		}
	}
}

// TestLongTable: no table is higher than its slide, and all of its rows are somewhere.
func TestLongTable(t *testing.T) {
	t.Parallel()
	table := &extract.Table{Headers: 1, Rows: [][]extract.Cell{{{Text: "Berth"}, {Text: "Fee"}}}}
	for n := range 100 {
		table.Rows = append(table.Rows, []extract.Cell{{Text: fmt.Sprint("Quay ", n)}, {Text: "95"}})
	}
	doc := &extract.Document{Blocks: []extract.Block{
		{Kind: extract.Heading, Level: 1, Text: "Fees"},
		{Kind: extract.Paragraph, Text: "They are due at once."},
		{Kind: extract.TableKind, Table: table},
	}}
	rows := 0
	d := document(t, doc, nil, compose.Options{Filename: "fees.csv"})
	for i, s := range d.Slides {
		for _, e := range s.Elements {
			if e.Table == nil {
				continue
			}
			high := int64(0)
			for _, r := range e.Table.Rows {
				high += r.Height
			}
			rows += len(e.Table.Rows) - 1
			if e.Box.H != high || e.Box.Bottom() > d.Size.Height {
				t.Errorf("slide %d: a table of %d in a box %+v, on a slide of %d", i+1, high, *e.Box, d.Size.Height)
			}
		}
	}
	if rows != 100 {
		t.Errorf("%d rows, want 100", rows)
	}
}

// pageOf is the page that the text of a row names.
func pageOf(row deck.Row) (page int) {
	fmt.Sscanf(row.Cells[0].Text.Plain(), "p%d", &page)
	return page
}
