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
		{"its mark deleted, not its text", item(`<w:del/>`, text+deleted), "1. a\n2. keptb\n"},
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

// TestJoined: a paragraph whose mark is deleted is one with the next, which has its style and list.
func TestJoined(t *testing.T) {
	t.Parallel()
	joined := func(text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="berschrift2"/><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
	}
	link := `<w:p><w:hyperlink w:anchor="x"><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>`
	for _, tt := range []struct{ what, body, want string }{
		{"with the next", joined("The quick ") + p("", "dog") + p("", "End."), "The quick dog\n\nEnd.\n"},
		{"several", joined("a") + joined("b") + p("Kapitel", "c"), "## abc\n"},
		{"with a link", joined("a ") + link, "a [link](#x)\n"},
		{"at the end", p("", "a") + joined("b"), "a\n\n## b\n"},
		{"before a table", joined("a") + `<w:tbl><w:tr>` + tc("", p("", "b")) + tc("", p("", "c")) + `</w:tr></w:tbl>`, "## a\n\n| b | c |\n| - | - |\n"},
		{"before a formula", joined("a") + `<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>` + p("", "b"), "## a\n\nx\n\nb\n"},
		{
			"at the end of a cell", `<w:tbl><w:tr>` + tc("", p("", "a")+joined("b")) + tc("", p("", "c")) + `</w:tr></w:tbl>`,
			"| a b | c |\n| - | - |\n",
		},
	} {
		if got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, tt.body)); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}
