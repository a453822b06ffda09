package xlsx_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xlsx"
)

// TestFormulas: a warning counts the formulas of which only a program that calculates knows the result.
func TestFormulas(t *testing.T) {
	t.Parallel()
	const warning = " formulas have no stored result: open the file in Excel or LibreOffice and save it"
	for _, tt := range []struct{ what, cells, want string }{
		{"without a result", `<c><f>1+1</f></c><c><f>1+2</f><v></v></c><c t="b"><f>1=1</f><v/></c>`, "3" + warning},
		{"one of a group", `<c><f t="shared" si="0"/></c>`, "1 formula has" + strings.TrimPrefix(warning, " formulas have")},
		{"an empty text", `<c t="str"><f>""</f><v></v></c><c t="str"><f>""</f></c>`, ""},
		{"a text of blanks", `<c t="inlineStr"><f>" "</f><is><t xml:space="preserve"> </t></is></c>`, ""},
		{"results", `<c><f>1-1</f><v>0</v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c><c t="str"><f>"a"</f><v>a</v></c>`, ""},
		{"no formulas", `<c/><c><v></v></c>`, ""},
	} {
		doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX,
			workbook(t, oneSheet, data(line("", "x"), `<row>`+tt.cells+`</row>`)), extract.Limits{})
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
