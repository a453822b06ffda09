package extract_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// TestGridIsBounded: rows that span all columns and rows are not repeated without end. A megabyte of HTML became 1.5 GB of
// Markdown.
func TestGridIsBounded(t *testing.T) {
	t.Parallel()
	table := &extract.Table{}
	for range 5000 {
		table.Rows = append(table.Rows, []extract.Cell{{Text: "a", ColSpan: 1000, RowSpan: 5000}, {Text: "b"}})
	}
	sum := 0
	for _, row := range table.Grid() {
		sum += len(row)
		if len(row) < 2 {
			t.Fatalf("a row has %q", row)
		}
	}
	if sum > 1_000_000 {
		t.Errorf("10,000 cells became %d", sum)
	}
}
