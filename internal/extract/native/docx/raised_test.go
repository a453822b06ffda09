package docx_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestSuperscripts: a number in superscript is not a part of the number before it.
func TestSuperscripts(t *testing.T) {
	t.Parallel()
	super, sub := `<w:vertAlign w:val="superscript"/>`, `<w:vertAlign w:val="subscript"/>`
	styles := `<w:styles` + namespaces + `><w:style w:type="character" w:styleId="Hoch"><w:name w:val="Hoch"/><w:rPr>` + super +
		`</w:rPr></w:style><w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style></w:styles>`
	cell := `<w:tc><w:p>` + r("", "km") + r(super, "2") + `</w:p></w:tc>`
	for _, tt := range []struct{ what, body, want string }{
		{"a number", "<w:p>" + r("", "10") + r(super, "6") + r("", " m") + r(super, "-") + r(super, "2") + "</w:p>", "10⁶ m⁻²\n"},
		{"by a style", "<w:p>" + r("", "10") + r(`<w:rStyle w:val="Hoch"/>`, "6") + r("", "0") + "</w:p>", "10⁶0\n"},
		{"after a heading", p("H", "H") + "<w:p>" + r("", "10") + r(super, "6") + "</w:p>", "# H\n\n10⁶\n"},
		{"in a table", "<w:tbl><w:tr>" + cell + cell + "</w:tr></w:tbl>", "| km² | km² |\n| - | - |\n"},
		{
			"a number in pieces", "<w:p>" + r("", "done.") + r(super, "1") + r(super, "2") + r("", " x") + r(super, "[") + r(super, "1]") +
				r("", " m") + r(super, "1") + r(super, "0 ") + r("", "s") + "</w:p>",
			"done.12 x\\[1\\] m¹⁰ s\n",
		},
		{
			"what stays", "<w:p>" + r("", "1") + r(super, "st") + r("", ", H") + r(sub, "2") + r("", "O, see ") + r(super, "2") + "</w:p>",
			"1st, H2O, see 2\n",
		},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, nativetest.Zip(t,
			"word/document.xml", `<w:document`+namespaces+`><w:body>`+tt.body+`</w:body></w:document>`, "word/styles.xml", styles))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
