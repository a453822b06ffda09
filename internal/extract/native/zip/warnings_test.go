package zip_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestWarnings: a warning about a file that was read is passed on with its name, and doesn't say that the file was not.
func TestWarnings(t *testing.T) {
	t.Parallel()
	book := string(nativetest.Zip(t, "xl/workbook.xml", `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`+
		`<sheets><sheet name="S" r:id="r0"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", nativetest.Relations("worksheet", "worksheets/sheet1.xml"),
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c t="str"><v>x</v></c><c><f>1+1</f></c></row></sheetData></worksheet>`))
	const warning = "1 formula has no stored result: open the file in Excel or LibreOffice and save it"
	for _, tt := range []struct {
		what  string
		files []string
		want  []string
	}{
		{"one", []string{"book.xlsx", book}, []string{"book.xlsx: " + warning}},
		{
			"one in another archive",
			[]string{"a.zip", string(nativetest.Zip(t, "b/book.xlsx", book)), "x.bin", "\x00\x01\x02", "empty.txt", " "},
			[]string{
				"2 attachments or parts could not be read: x.bin (this kind of file can't be read); empty.txt (" + extract.NoText + ")",
				"a.zip/b/book.xlsx: " + warning,
			},
		},
	} {
		doc, err := nativetest.Extract(t, reader(), extract.Zip, nativetest.Zip(t, tt.files...), extract.Limits{})
		if err != nil || !slices.Equal(doc.Warnings, tt.want) {
			t.Errorf("%s: %v, got %q, want %q", tt.what, err, doc.Warnings, tt.want)
		}
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("%d.xlsx", i), book)
	}
	doc, err := nativetest.Extract(t, reader(), extract.Zip, nativetest.Zip(t, many...), extract.Limits{})
	if n := len(doc.Warnings); err != nil || n != 51 || doc.Warnings[n-1] != "10 more warnings about files within the document" {
		t.Errorf("%v, %d warnings: %q", err, n, doc.Warnings)
	}
}
