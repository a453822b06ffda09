package xlsx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xlsx"
)

// TestSpan: a merged cell over many wide rows doesn't hold them all in memory. The rows keep their columns and its text.
func TestSpan(t *testing.T) {
	t.Parallel()
	const last = 60
	var rows strings.Builder
	for i := 2; i <= last; i++ {
		const text = `<c r="%s%d" t="inlineStr"><is><t>%s</t></is></c>`
		fmt.Fprintf(&rows, `<row r="%d">`+text+text+`</row>`, i, "A", i, "x", "XFD", i, "y")
	}
	sheet := data(line("1", "h"), rows.String()) + merged("A1:XFD1", fmt.Sprintf("A2:A%d", last))
	doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX, workbook(t, oneSheet, sheet), extract.Limits{ZipRatio: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, b := range doc.Blocks[1:] {
		cells := 0
		for _, row := range b.Table.Rows {
			cells += len(row)
		}
		if cells > 16<<20/64+2*16_384 { // and the header, and the row that ends the slice
			t.Errorf("block %d has %d cells", i, cells)
		}
		for _, line := range b.Table.Grid() {
			found++
			if len(line) != 16_384 || line[0] != "x" || line[16_383] != "y" {
				t.Fatalf("block %d has a row of %d cells, the first is %q and the last %q", i, len(line), line[0], line[len(line)-1])
			}
		}
	}
	if slices := len(doc.Blocks) - 1; found-(slices-1) != last-1 || slices < 3 { // each slice after the first repeats the header
		t.Errorf("got %d rows in %d slices", found, slices)
	}
}

// TestSpanOfHeader: a merged cell that begins in the header and spans rows of the first slice doesn't move those of the next.
func TestSpanOfHeader(t *testing.T) {
	t.Parallel()
	rows := []string{line("1", "North", "port", "sum")}
	for i := 2; i <= 700; i++ {
		label := ""
		if i > 550 {
			label = "South"
		}
		rows = append(rows, line(fmt.Sprint(i), label, "p", "1"))
	}
	doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX, workbook(t, oneSheet, data(rows...)+merged("A1:A550")), extract.Limits{})
	if err != nil || len(doc.Blocks) != 2 {
		t.Fatalf("got %d blocks, %v", len(doc.Blocks), err)
	}
	for _, line := range doc.Blocks[1].Table.Grid()[1:] {
		if strings.Join(line, " ") != "South p 1" {
			t.Fatalf("got %q", line)
		}
	}
}
