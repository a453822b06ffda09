package odf_test

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
)

// TestFormulas: a warning counts the formulas of which only a program that calculates knows the result.
func TestFormulas(t *testing.T) {
	t.Parallel()
	const formula = `table:formula="of:=1+1" `
	const warning = " formulas have no stored result: open the file in Excel or LibreOffice and save it"
	for _, tt := range []struct{ what, cells, want string }{
		{"without a result", tc(formula, "") + tc(formula+`office:value-type="float"`, p("")), "2" + warning},
		{"repeated", tc(formula+`table:number-columns-repeated="3"`, ""), "3" + warning},
		{"an empty text", tc(formula+`office:value-type="string" office:string-value=""`, ""), ""},
		{"results", tc(formula+`office:value-type="float" office:value="2"`, "") + tc(formula, p("2")), ""},
		{"no formula", tc("", ""), ""},
	} {
		doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, sheets(table("", tr(tc("", p("a"))+tt.cells)))), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		if !slices.Equal(doc.Warnings, want) {
			t.Errorf("%s: got %q, want %q", tt.what, doc.Warnings, want)
		}
	}
}
