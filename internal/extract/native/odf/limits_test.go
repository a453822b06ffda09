package odf_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestRefuses(t *testing.T) {
	t.Parallel()
	manifest := `<manifest:manifest xmlns:manifest="urn:x"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`
	bomb := strings.Repeat(`<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>abcdefgh</text:p></table:table-cell></table:table-row>`, 50)
	repeated := `<table:table-row table:number-rows-repeated="1000">` + tc(`table:number-columns-repeated="601"`, p("x")) + `</table:table-row>`
	nativetest.RefusesAll(t, odf.New(), extract.ODF, []nativetest.Refusal{
		{
			What: "a password", Content: nativetest.Zip(t, "content.xml", "\x01\x02", "META-INF/manifest.xml", manifest),
			Class: taskerr.UnsupportedFormat, Message: "password: remove it",
		},
		{
			What: "no content", Content: nativetest.Zip(t, "mimetype", "application/vnd.oasis.opendocument.text"),
			Class: taskerr.CorruptionDetected, Message: "no content part",
		},
		{
			What: "no body", Content: nativetest.Zip(t, "content.xml", "<x/>"), Class: taskerr.CorruptionDetected,
			Message: "no body",
		},
		{
			What: "broken XML", Content: nativetest.Zip(t, "content.xml", "<office:body><office:text><text:p>a"),
			Class: taskerr.CorruptionDetected, Message: "damaged",
		},
		{
			What: "deep nesting", Content: document(t, text(strings.Repeat("<text:section>", 1000))),
			Class: taskerr.CorruptionDetected, Message: "nested deeper",
		},
		{What: "an entity that expands", Content: nativetest.Zip(t, "content.xml",
			`<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>`), Class: taskerr.CorruptionDetected, Message: "damaged"},
		{
			What: "repeated cells and rows", Content: document(t, sheets(table("", bomb))),
			Limits: extract.Limits{Characters: 1_000_000},
			Class:  taskerr.QuotaExceeded, Message: "1000000 characters",
		},
		{
			What: "repeated cells in a text", Content: document(t, text(table("", bomb))),
			Limits: extract.Limits{Characters: 1_000_000},
			Class:  taskerr.QuotaExceeded, Message: "1000000 characters",
		},
		{
			What: "repeated rows of a table in a cell", Content: document(t, text(table("", tr(tc("", table("", repeated)), tc("", p("z")))))),
			Class: taskerr.QuotaExceeded, Message: "more than 600000 repeated cells",
		},
		{
			What: "repeated cells of a table in a frame", Content: document(t, text(p(`<draw:frame>`+
				table("", strings.Repeat(tr(tc(`table:number-columns-repeated="1000"`, p("x"))), 601))+`</draw:frame>`))),
			Limits: extract.Limits{ZipRatio: 1 << 20}, Class: taskerr.QuotaExceeded, Message: "more than 600000 repeated cells",
		},
		{
			What: "gaps in a table in a cell", Content: document(t, text(table("", tr(tc("", table("",
				strings.Repeat(tr(tc(`table:number-columns-repeated="255"`, "")+tc("", p("x"))), 2500))), tc("", p("z")))))),
			Limits: extract.Limits{ZipRatio: 1 << 20}, Class: taskerr.QuotaExceeded, Message: "more than 600000 repeated cells",
		},
		{
			What: "repeated rows below a tall cell of a table in a cell", Content: document(t, text(table("", tr(tc("", table("",
				tr(tc(`table:number-rows-spanned="1000000"`, p("x")), tc("", p("y"))),
				strings.Repeat(`<table:table-row table:number-rows-repeated="1000"/>`, 601))), tc("", p("z")))))),
			Limits: extract.Limits{ZipRatio: 1 << 20}, Class: taskerr.QuotaExceeded, Message: "more than 600000 repeated cells",
		},
		{
			What: "wide gaps", Content: document(t, sheets(table("",
				strings.Repeat(tr(tc(`table:number-columns-repeated="16383"`, "")+tc("", p("x"))), 10)))),
			Limits: extract.Limits{Characters: 100_000}, Class: taskerr.QuotaExceeded, Message: "more than 100000 empty cells between others",
		},
		{
			What: "blanks without end", Content: document(t,
				text(p("a"+strings.Repeat(`<text:s text:c="99999999"/>`, 1000)))),
			Limits: extract.Limits{Characters: 100_000}, Class: taskerr.QuotaExceeded, Message: "100000 characters",
		},
		{
			What: "a zip bomb", Content: document(t, text(p(strings.Repeat("a", 9<<20)))),
			Class: taskerr.CorruptionDetected, Message: "zip bomb",
		},
	})
}

// TestMemory: text that is held back counts toward the limit.
func TestMemory(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, odf.New(),
		document(t, sheets(table("", `<table:table-row table:number-rows-repeated="900">`+tc("", p("x"))+
			`</table:table-row>`))))
}

// TestRepeats: a row with text repeated down to the end of the sheet.
func TestRepeats(t *testing.T) {
	t.Parallel()
	for _, body := range []func(string) string{text, sheets} {
		row := `<table:table-row table:number-rows-repeated="1048576">` +
			tc(`table:number-columns-repeated="16384"`, p("x")) + `</table:table-row>`
		doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, body(table("", row))), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		cells := 0
		for _, b := range doc.Blocks {
			if b.Table != nil {
				cells += len(b.Table.Rows) * len(b.Table.Rows[0])
			}
		}
		if cells != 1000*1024 || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "read in part") {
			t.Errorf("got %d cells, %q", cells, doc.Warnings)
		}
	}
}

// TestSpan: a cell that spans a million rows doesn't hold them all in memory. Shorter spans are not cut.
func TestSpan(t *testing.T) {
	t.Parallel()
	for _, body := range []func(string) string{text, sheets} {
		for _, tt := range []struct {
			columns string
			blocks  int
		}{{"1000", 4}, {"200", 1}} {
			doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, body(table("",
				tr(tc(`table:number-rows-spanned="1000000"`, p("x"))),
				`<table:table-row table:number-rows-repeated="1000"><table:covered-table-cell/>`+
					tc(`table:number-columns-repeated="`+tt.columns+`"`, p("y"))+`</table:table-row>`))), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			blocks, rows, most := 0, 0, 0
			for _, b := range doc.Blocks {
				if b.Table == nil {
					continue
				}
				blocks++
				rows += len(b.Table.Rows)
				cells := 0
				for _, row := range b.Table.Rows {
					cells += len(row)
				}
				most = max(most, cells)
				for _, line := range b.Table.Grid() {
					if line[0] != "x" || len(line) > 1 && line[1] != "y" {
						t.Fatalf("%s columns: table %d has a row that begins with %q", tt.columns, blocks, line[:min(len(line), 2)])
					}
				}
			}
			if rows != 1001 || blocks != tt.blocks || most > 270_000 {
				t.Errorf("%s columns: %d rows in %d tables of at most %d cells", tt.columns, rows, blocks, most)
			}
		}
	}
}

// TestGaps: a row may have any number of cells, but not more empty ones between them than a sheet has columns.
func TestGaps(t *testing.T) {
	t.Parallel()
	cells := strings.Repeat(tc(`table:number-columns-repeated="200"`, "")+tc("", p("x")), 100)
	doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, text(table("", tr(cells), tr(tc("", p("y")))))), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	row := doc.Blocks[0].Table.Rows[0]
	if len(row) < 16_281 || len(row) > 16_384+2*100 || row[200].Text != "x" || row[16_280].Text != "x" || len(doc.Warnings) != 1 {
		t.Errorf("%d blocks, %d cells, %q", len(doc.Blocks), len(row), doc.Warnings)
	}
}

// TestLongMarker: a list style may define a marker of any length, which each of its items would repeat.
func TestLongMarker(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("第", 1000)
	for _, tt := range []struct{ prefix, suffix, want string }{
		{long, ".", strings.Repeat("第", 33) + "1"},
		{"", long, "1" + strings.Repeat("第", 33)},
		{long[:90], long, long[:90] + "1" + "第第第"},
		{"Section ", " of the agreement", "Section 1 of the agreement"},
	} {
		style := `<text:list-style style:name="Long"><text:list-level-style-number text:level="1" style:num-format="1" style:num-prefix="` +
			tt.prefix + `" style:num-suffix="` + tt.suffix + `"/></text:list-style>`
		doc, err := nativetest.Extract(t, odf.New(), extract.ODF, nativetest.Zip(t, "content.xml", `<office:document-content`+
			namespaces+`><office:automatic-styles>`+style+`</office:automatic-styles><office:body>`+
			text(list(`text:style-name="Long"`, p("x")))+`</office:body></office:document-content>`), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Blocks) != 1 || doc.Blocks[0].Marker != tt.want {
			t.Errorf("%.20q, %.20q: got %+v; want %q", tt.prefix, tt.suffix, doc.Blocks, tt.want)
		}
	}
}

// TestCancel: a sheet without text, which emits nothing, still stops with its context.
func TestCancel(t *testing.T) {
	t.Parallel()
	nativetest.Stops(t, odf.New(), document(t, sheets(table("", strings.Repeat(tr(tc("", "")), 5000)))))
}
