package docx_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestDeletedNumbers: what a tracked change deletes or moves away has no number in its list.
func TestDeletedNumbers(t *testing.T) {
	t.Parallel()
	item := func(mark, content string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr><w:rPr>` + mark + `</w:rPr></w:pPr>` + content + `</w:p>`
	}
	const text, deleted = `<w:r><w:t>kept</w:t></w:r>`, `<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>`
	row := func(properties string) string {
		return `<w:tbl><w:tr>` + tc("", p("", "x")) + tc("", p("", "y")) + `</w:tr><w:tr><w:trPr>` + properties + `</w:trPr>` +
			tc("", li("2", "0", "in a row")) + tc("", p("", "z")) + `</w:tr></w:tbl>`
	}
	const table, more = "\n| x | y |\n| - | - |\n", "| 2. in a row | z |\n"
	for _, tt := range []struct{ what, between, want string }{
		{"deleted", item(`<w:del/>`, deleted), "1. a\n2. b\n"},
		{"moved away", item(`<w:moveFrom/>`, `<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom>`), "1. a\n2. b\n"},
		{"its text deleted, not its mark", item("", deleted), "1. a\n3. b\n"},
		{"its mark deleted, not its text", item(`<w:del/>`, text), "1. a\n2. kept\n3. b\n"},
		{"inserted", item(`<w:ins/>`, text), "1. a\n2. kept\n3. b\n"},
		{"empty", item("", ""), "1. a\n3. b\n"},
		{"a deleted row", row(`<w:del/>`), "1. a\n" + table + "\n2. b\n"},
		{"a row", row(""), "1. a\n" + table + more + "\n3. b\n"},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, li("2", "0", "a")+tt.between+li("2", "0", "b")))
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}
