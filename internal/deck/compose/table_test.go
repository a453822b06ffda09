package compose_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

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
	for _, s := range compose.Document(doc, nil, compose.Options{Filename: "fees.csv"}).Slides {
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
