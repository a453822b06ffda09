package odf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
)

// TestWideSheet: values keep their columns in a sheet of any width, after empty cells and after repeated ones.
func TestWideSheet(t *testing.T) {
	t.Parallel()
	cells := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(tc("", p(fmt.Sprintf("v%d", i))))
		}
		return b.String()
	}
	blanks := func(n int) string { return tc(fmt.Sprintf(`table:number-columns-repeated="%d"`, n), "") }
	copies := func(n int, text string) string {
		return tc(fmt.Sprintf(`table:number-columns-repeated="%d"`, n), p(text))
	}
	for _, tt := range []struct {
		what, row string
		cut       bool
	}{
		{"empty cells", cells(0, 1100) + blanks(5) + cells(1105, 1500), false},
		{"many empty cells", cells(0, 10) + blanks(600) + cells(610, 1500), false},
		{"repeated cells", cells(0, 1100) + copies(5, "r") + cells(1105, 1500), false},
		{"too many repeated cells", cells(0, 10) + copies(1300, "r") + cells(1310, 1500), true},
		{"wide cells", cells(0, 10) + tc(`table:number-columns-spanned="2"`, p("v10")) + `<table:covered-table-cell/>` + cells(12, 1500), false},
		{"the last column", cells(0, 1) + blanks(16_382) + cells(16_383, 16_384), false},
		{"no column after it", cells(0, 1100) + blanks(16_384-1100), false},
		{"repeated to the end", cells(0, 10) + copies(16_384-10, "r"), true},
	} {
		doc, err := nativetest.Extract(t, odf.New(), extract.ODF,
			document(t, sheets(table("", tr(cells(0, 1500)), tr(tt.row)))), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		rows, found := 0, 0
		for _, b := range doc.Blocks {
			if b.Table == nil {
				continue
			}
			for _, line := range b.Table.Rows {
				rows++
				column := 0
				for _, c := range line {
					if strings.HasPrefix(c.Text, "v") {
						found++
						if c.Text != fmt.Sprintf("v%d", column) {
							t.Fatalf("%s: %s is in column %d", tt.what, c.Text, column)
						}
					}
					column += max(c.ColSpan, 1)
				}
			}
		}
		if rows != 2 || found != 1500+strings.Count(tt.row, "<text:p>v") || (len(doc.Warnings) > 0) != tt.cut {
			t.Errorf("%s: %d values in %d rows, %q", tt.what, found, rows, doc.Warnings)
		}
	}
}

// TestWideGaps: a sheet of rows that are as wide as it can be is not held in memory.
func TestWideGaps(t *testing.T) { //nolint:paralleltest // it measures what the process holds
	const rows = 120
	content := document(t, sheets(table("",
		strings.Repeat(tr(tc("", p("a"))+tc(`table:number-columns-repeated="16382"`, "")+tc("", p("b"))), rows))))
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most, found := uint64(0), 0
	limits := extract.Limits{Characters: 20_000_000, ZipRatio: 1 << 20}.WithDefaults()
	_, err := odf.New().Extract(t.Context(), extract.Source{Path: path}, limits, func(b extract.Block) error {
		if b.Table == nil {
			return nil
		}
		found += len(b.Table.Rows)
		if found%60 == 1 {
			var now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}
		return nil
	})
	if err != nil || found != rows || most>>20 > 64 {
		t.Errorf("got %d rows, %v; %d MB are held", found, err, most>>20)
	}
}
