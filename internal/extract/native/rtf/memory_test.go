package rtf_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rtf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// wide defines a row of 1024 cells.
var wide = `\trowd` + strings.Repeat(`\cellx`, 1023) + `\cellx1000`

// columns defines a row of 1024 cells with edges of their own.
func columns() string {
	var b strings.Builder
	for i := range 1024 {
		fmt.Fprintf(&b, `\cellx%d`, 100*(i+1))
	}
	return b.String()
}

// TestRowsOfADefinition: a short row does not cost what its definition costs, which the file has once.
func TestRowsOfADefinition(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	rows := strings.Repeat(`\cell\row`, 499)
	for _, tt := range []struct{ what, body string }{
		{"rows of nested notes", strings.Repeat(`x{\footnote`+wide+`\intbl y\cell\row`+rows+`\pard `, 20) + strings.Repeat("}", 20)},
		{"rows of many columns", `\trowd` + columns() + `\intbl y\cell\row` + rows + `\pard`},
		{"indented rows", `\trowd` + columns() + `\intbl y\cell\row\trowd\trleft102300\cellx102400\intbl` + rows + `\pard`},
		{
			"indented rows of a table in a cell", `\trowd\cellx9000\cellx9900\pard\intbl\itap2 {\*\nesttableprops\trowd` + columns() +
				`}y\nestcell{\*\nesttableprops\nestrow` +
				`\trowd\trleft102300\cellx102400}` + strings.Repeat(`\nestcell\nestrow`, 499) + `\pard\intbl\itap1 z\cell\cell\row\pard`,
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := nativetest.Extract(t, rtf.New(), extract.RTF, document(tt.body), extract.Limits{}); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 16 {
			t.Errorf("%s: %d KB take %d MB", tt.what, len(tt.body)>>10, allocated)
		}
	}
}

// TestTablesAreHeld: a small file can state many cells of tables within cells or notes, which are held until these end.
func TestTablesAreHeld(t *testing.T) {
	t.Parallel()
	edges := columns()[:strings.Index(columns(), `\cellx6500`)]
	const indent = `\trowd\trleft6300\cellx6400`
	inCell := func(rows int) string {
		return `\trowd\cellx9000\cellx9900\pard\intbl` + strings.Repeat(`\itap2 {\*\nesttableprops\trowd`+edges+
			`}y\nestcell{\*\nesttableprops\nestrow`+indent+`}`+
			strings.Repeat(`\nestcell\nestrow`, 499), rows/500) + `\pard\intbl\itap1 z\cell\cell\row\pard `
	}
	inNote := func(rows int) string {
		return `x{\footnote ` + strings.Repeat(`\trowd`+edges+`\intbl y\cell\row`+
			indent+`\intbl `+strings.Repeat(`\cell\row`, 499)+`\pard `, rows/500) + `}\par `
	}
	for _, tt := range []struct {
		what, body string
		refused    bool
	}{
		{"few rows in a cell", inCell(5000), false}, // of 64 cells
		{"many rows in a cell", inCell(10_000), true},
		{"few rows in a note", inNote(5000), false},
		{"many rows in a note", inNote(10_000), true},
		{"few rows in each of many cells and notes", strings.Repeat(inCell(5000)+"end "+inNote(2000), 3), false},
	} {
		_, err := nativetest.Extract(t, rtf.New(), extract.RTF, document(tt.body), extract.Limits{})
		if nativetest.IsClass(err, taskerr.QuotaExceeded) != tt.refused || !tt.refused && err != nil {
			t.Errorf("%s: got %v", tt.what, err)
		}
	}
}

// TestDefinitionsAreHeld: a table whose rows define more cells than they have is emitted in slices, as one with long texts is.
func TestDefinitionsAreHeld(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]int{wide: 7, "": 1} { // 16 rows take 256 KB
		body := wide + strings.Repeat(what+`\intbl x\cell\row`, 100) + `\pard`
		doc, err := nativetest.Extract(t, rtf.New(), extract.RTF, document(body), extract.Limits{})
		if err != nil || len(doc.Blocks) != want {
			t.Errorf("%.6q: got %d blocks, %v; want %d", what, len(doc.Blocks), err, want)
		}
	}
}

// TestWideIndent: a row has its column however far to the right it begins.
func TestWideIndent(t *testing.T) {
	t.Parallel()
	for _, left := range []int{63, 64, 1023} {
		body := `\trowd` + columns() + `\intbl a\cell b\cell\row` + fmt.Sprintf(`\trowd\trleft%d\cellx%d\intbl c\cell\row\pard`, left*100, left*100+100)
		doc, err := nativetest.Extract(t, rtf.New(), extract.RTF, document(body), extract.Limits{})
		if err != nil || len(doc.Blocks) != 1 {
			t.Fatalf("%d columns: got %d blocks, %v", left, len(doc.Blocks), err)
		}
		if row := doc.Blocks[0].Table.Grid()[1]; len(row) <= left || row[left] != "c" || strings.Join(row[:left], "") != "" {
			t.Errorf("%d columns: got %q", left, row)
		}
	}
}
