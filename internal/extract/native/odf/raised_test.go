package odf_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
)

// TestSuperscripts: a number in superscript is not a part of the number before it.
func TestSuperscripts(t *testing.T) {
	t.Parallel()
	style := func(name, parent, position string) string {
		return `<style:style style:name="` + name + `" style:family="text" style:parent-style-name="` + parent +
			`"><style:text-properties style:text-position="` + position + `"/></style:style>`
	}
	span := func(style, content string) string {
		return `<text:span text:style-name="` + style + `">` + content + "</text:span>"
	}
	styles := `<office:document-styles` + namespaces + `><office:styles>` + style("Super", "", "super 58%") +
		style("Raised", "", "33% 80%") + style("Sub", "", "sub 58%") + style("Lowered", "", "-33% 80%") + style("Line", "", "0% 100%") +
		`<style:style style:name="Child" style:family="text" style:parent-style-name="Super"/></office:styles></office:document-styles>`
	for _, tt := range []struct{ what, body, want string }{
		{"a number", p("10" + span("Super", "6") + " m" + span("Raised", "-2")), "10⁶ m⁻²\n"},
		{"by a parent, with a style within", p("10" + span("Child", span("TBold", "6")) + "0"), "10⁶0\n"},
		{"after a heading", h("1", "H") + p("10"+span("Super", "6")), "# H\n\n10⁶\n"},
		{
			"a number in pieces", p("done." + span("Super", "1") + span("Super", "2") + " m" + span("Super", "1") + span("Super", "0 ") + "s"),
			"done.12 m¹⁰ s\n",
		},
		{
			"what stays", p("1" + span("Super", "st") + ", H" + span("Sub", "2") + "O" + span("Lowered", "3") + span("Line", "4") + " " +
				span("Super", "5")),
			"1st, H2O34 5\n",
		},
	} {
		content := nativetest.Zip(t, "mimetype", "application/vnd.oasis.opendocument.text", "styles.xml", styles, "content.xml",
			`<office:document-content`+namespaces+`>`+automatic+`<office:body>`+text(tt.body)+`</office:body></office:document-content>`)
		if got := nativetest.Markdown(t, odf.New(), extract.ODF, content); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
