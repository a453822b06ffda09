package docling_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/docling"
)

// repeated reads a piece of text again and again.
func repeated(piece string, times int) io.Reader {
	const batch = 100
	many := strings.Repeat(piece, batch)
	var all []io.Reader
	for range times / batch {
		all = append(all, strings.NewReader(many))
	}
	return io.MultiReader(append(all, strings.NewReader(strings.Repeat(piece, times%batch)))...)
}

// peak reads, and keeps the largest size of the heap, without garbage, at every so many bytes.
type peak struct {
	io.Reader
	left  int
	bytes uint64
}

func (p *peak) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.left -= n; p.left < 0 {
		p.left = 4 << 20
		p.bytes = max(p.bytes, heap())
	}
	return n, err
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A table takes the memory of its cells: neither that of its JSON, nor any for the grid, which has each cell once more.
func TestLargeTableTakesLittleMemory(t *testing.T) { //nolint:paralleltest // others would take memory, too
	const cells, bound = 50_000, 16 << 20
	cell := `,{"bbox":{"l":1,"t":2,"r":3,"b":4,"coord_origin":"TOPLEFT"},"row_span":1,"col_span":1,"start_row_offset_idx":7,` +
		`"end_row_offset_idx":8,"start_col_offset_idx":0,"end_col_offset_idx":1,"text":"12","column_header":false,` +
		`"row_header":false,"row_section":false}`
	row := ",[" + strings.Repeat(cell, 10)[1:] + "]"
	before := heap()
	r := &peak{Reader: io.MultiReader(
		strings.NewReader(`{"body":{},"tables":[{"label":"table","data":{"grid":[[]`), repeated(row, cells/10),
		strings.NewReader(`],"table_cells":[`+cell[1:]), repeated(cell, cells-1),
		strings.NewReader(`],"num_rows":5000,"num_cols":10},"prov":[{"page_no":3}]}]}`),
	)}
	doc, err := docling.ReadDocument(r)
	if err != nil {
		t.Fatal(err)
	}
	table := doc.Items["tables"][0]
	if len(table.Table.Cells) != cells || table.Table.Rows != 5_000 || table.Table.Columns != 10 || table.Label != "table" ||
		table.Places[0].Page != 3 || table.Table.Cells[cells-1].Text != "12" || table.Table.Cells[1].RowEnd != 8 {
		t.Errorf("%d cells, %+v", len(table.Table.Cells), table.Places)
	}
	if took := r.bytes - min(r.bytes, before); took > bound {
		t.Errorf("%d MiB at the most, want at most %d", took>>20, bound>>20)
	} else {
		t.Logf("%d MiB at the most", took>>20)
	}
}

// An item without a table, and one whose parts are null or of another kind, is read as far as it goes.
func TestItemsWithoutCells(t *testing.T) {
	t.Parallel()
	doc, err := docling.ReadDocument(strings.NewReader(`{"tables":[{"data":null,"label":"a"},{},null,` +
		`{"x\u0000\"y":[1],"data":{"num_rows":2,"table_cells":null,"grid":null,"other":[[{}]]},"children":[{"$ref":"#/texts/1"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := doc.Items["tables"]
	if len(all) != 4 || all[0].Label != "a" || all[0].Table != nil || all[3].Table.Rows != 2 || all[3].Children[0].To != "#/texts/1" {
		t.Errorf("%+v", all)
	}
}
