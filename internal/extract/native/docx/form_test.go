package docx_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// fieldOf is a complex field with the content of its w:ffData.
func fieldOf(instruction, data, result string) string {
	return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="n"/>` + data + `</w:ffData></w:fldChar></w:r>` +
		`<w:r><w:instrText> ` + instruction + ` </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + result +
		`<w:r><w:fldChar w:fldCharType="end"/></w:r>`
}

// TestForms: the fields of a form show what was filled in.
func TestForms(t *testing.T) {
	t.Parallel()
	box := func(state string) string { return fieldOf("FORMCHECKBOX", `<w:checkBox>`+state+`</w:checkBox>`, "") }
	list := func(state string) string {
		return fieldOf("FORMDROPDOWN", `<w:ddList>`+state+`<w:listEntry w:val="north"/><w:listEntry w:val="south"/>`+
			`<w:listEntry w:val="west"/></w:ddList>`, "")
	}
	word := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	for _, tt := range []struct{ what, fields, want string }{
		{"checked", box(`<w:sizeAuto/><w:default w:val="0"/><w:checked/>`), "☒ x"},
		{"checked, by a value", box(`<w:checked w:val="1"/>`), "☒ x"},
		{"cleared", box(`<w:default w:val="1"/><w:checked w:val="0"/>`), "☐ x"},
		{"checked from the start", box(`<w:default w:val="1"/>`), "☒ x"},
		{"not checked", box(`<w:default w:val="0"/>`), "☐ x"},
		{"empty", box(""), "☐ x"},
		{"chosen", list(`<w:result w:val="2"/><w:default w:val="1"/>`), "west x"},
		{"chosen from the start", list(`<w:default w:val="1"/>`), "south x"},
		{"the first", list(""), "north x"},
		{"one that the list lacks", list(`<w:result w:val="9"/>`), "north x"},
		{
			"a list with a result", fieldOf("FORMDROPDOWN", `<w:ddList><w:listEntry w:val="north"/></w:ddList>`, word("North")),
			"North x",
		},
		{
			"a text", fieldOf("FORMTEXT", `<w:textInput><w:default w:val="name"/></w:textInput>`, word("Ada")), "Ada x",
		},
		{
			"without a separator", `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData>` +
				`</w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`,
			"☒ x",
		},
		{
			"hidden", `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox/></w:ffData></w:fldChar></w:r>` +
				`<w:r><w:rPr><w:vanish/></w:rPr><w:fldChar w:fldCharType="end"/></w:r>`, "x",
		},
		{
			"within an instruction", `<w:r><w:fldChar w:fldCharType="begin"/></w:r>` + box("") +
				`<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`, "x",
		},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, `<w:p>`+tt.fields+word(" x")+`</w:p>`))
		if got != tt.want+"\n" {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
