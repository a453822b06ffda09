package odf_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
)

// TestCurrency: an amount that a program stored without its text has its currency.
func TestCurrency(t *testing.T) {
	t.Parallel()
	const currency = `office:value-type="currency" office:currency="EUR" `
	for _, tt := range []struct{ what, cell, want string }{
		{"without a text", tc(currency+`office:value="1234.5"`, ""), "1234.5 EUR"},
		{"with a text", tc(currency+`office:value="1234.5"`, p("1.234,50 €")), "1.234,50 €"},
		{"without a value", tc(currency, ""), ""},
		{"an unknown currency", tc(`office:value-type="currency" office:value="7"`, ""), "7"},
		{"another type", tc(`office:value-type="float" office:currency="EUR" office:value="7"`, ""), "7"},
	} {
		body := sheets(table(`table:name="S"`, tr(tc("", p("Net")), tc("", p("Note"))), tr(tt.cell, tc("", p("x")))))
		want := "# S\n\n| Net | Note |\n| - | - |\n| " + tt.want + " | x |\n"
		if got := nativetest.Markdown(t, odf.New(), extract.ODF, document(t, body)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, want)
		}
	}
}
