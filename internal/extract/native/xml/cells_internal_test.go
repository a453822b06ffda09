package xml

import (
	"encoding/xml"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestCells: the cells and rows of a table have a limit, those of a table within a cell and of all tables have none.
func TestCells(t *testing.T) {
	t.Parallel()
	w := &walker{dialect: docbook, out: flow.New(func(extract.Block) error { return nil }, 1000)}
	start := func(names ...string) (err error) {
		for _, name := range names {
			err = w.start(xml.StartElement{Name: xml.Name{Local: name}})
		}
		return err
	}
	for range 2 {
		if err := start("book", "table"); err != nil {
			t.Fatal(err)
		}
		w.cells = maxCells - 2 // a million take seconds
		if err := start("row", "entry", "table", "row", "entry"); err != nil {
			t.Fatalf("the last cell: %v", err)
		}
		for len(w.open) > 0 {
			if err := w.end(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"row", "entry"} {
		if err := start("book", "table", "row"); err != nil {
			t.Fatal(err)
		}
		w.cells = maxCells
		if err := start(name); !nativetest.IsClass(err, taskerr.QuotaExceeded) {
			t.Errorf("one %s more: %v", name, err)
		}
		*w = walker{dialect: docbook, out: w.out}
	}
}
