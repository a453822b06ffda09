package docx_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// r is a run of text with properties.
func r(properties, text string) string {
	return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

// TestCharacters: what the look of characters, or the style of them, says about a text.
func TestCharacters(t *testing.T) {
	t.Parallel()
	const mono, hidden = `<w:rFonts w:ascii="Courier New"/>`, `<w:vanish/>`
	styles := `<w:styles` + namespaces + `><w:style w:type="character" w:styleId="Verbatim"><w:name w:val="Verbatim"/><w:rPr>` + mono +
		`</w:rPr></w:style><w:style w:type="paragraph" w:styleId="zTop"><w:name w:val="z-Top of Form"/><w:rPr>` + hidden +
		`</w:rPr></w:style><w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr>` + hidden +
		`</w:rPr></w:style><w:style w:type="paragraph" w:styleId="Script"><w:name w:val="Script"/><w:rPr>` +
		`<w:rFonts w:ascii="Monotype Corsiva"/></w:rPr></w:style></w:styles>`
	line := func(text string) string { return "<w:p>" + r(mono, text) + "</w:p>" }
	frame := func(kind, text string) string {
		return `<w:p><w:pPr><w:framePr w:dropCap="` + kind + `" w:lines="3"/></w:pPr>` + r("", text) + "</w:p>"
	}
	x := p("", "x")
	for _, tt := range []struct{ what, body, want string }{
		{
			"lines of code", x + line("import os") + line("def f(n):") + line("    a = n") + line("    return a") + x,
			"x\n\n```\nimport os\ndef f(n):\n    a = n\n    return a\n```\n\nx\n",
		},
		{
			"code by the style of its characters", "<w:p>" + r(`<w:rStyle w:val="Verbatim"/>`, "SELECT * FROM users;") + "</w:p>",
			"```\nSELECT * FROM users;\n```\n",
		},
		{
			"text in the letters of a typewriter", line("This memo (of today) is typed; the other item(s) are not.") + line("Yours, A.") + x,
			"This memo (of today) is typed; the other item(s) are not.\n\nYours, A.\n\nx\n",
		},
		{
			"lines of such a text that end as code may", line("If you agree with this:") + x + line("return the item(s)") + x,
			"If you agree with this:\n\nx\n\nreturn the item(s)\n\nx\n",
		},
		{
			"a contract in the letters of a typewriter", line("between A and B (the “Company”);") + line("as agreed under clause 3;") +
				line("Section 3(a);") + line("$ 500 are due.") + line("Made on &lt;insert date&gt;") + line("&lt;insert name&gt;") +
				line("Select one item from the list."),
			"between A and B (the “Company”);\n\nas agreed under clause 3;\n\nSection 3(a);\n\n$ 500 are due.\n\nMade on &lt;insert date>\n\n" +
				"&lt;insert name>\n\nSelect one item from the list.\n",
		},
		{"a rule", x + line("Rule 12(b)"), "x\n\nRule 12(b)\n"},
		{"a call and another", line("print(a)") + line("close(b);"), "```\nprint(a)\nclose(b);\n```\n"},
		{"a part of a line", "<w:p>" + r("", "Call ") + r(mono, "f(x);") + "</w:p>", "Call f(x);\n"},
		{"a foundry is not a font", p("Script", "Dear guests"), "Dear guests\n"},
		{"hidden by a style of paragraphs", p("zTop", "Top of Form") + x, "x\n"},
		{
			"hidden by a style of characters, unless the text says otherwise",
			"<w:p>" + r(`<w:rStyle w:val="Gone"/>`, "no") + r(`<w:rStyle w:val="Gone"/><w:vanish w:val="0"/>`, "yes") + "</w:p>", "yes\n",
		},
		{"a large first letter", frame("drop", "O") + p("", "nce upon a time"), "Once upon a time\n"},
		{"a large first letter in the margin", x + frame("margin", "“A") + p("", " hat”"), "x\n\n“A hat”\n"},
		{"a large first word", frame("drop", "We ") + p("", "hold these"), "We hold these\n"},
		{"a large number of a verse", frame("drop", "1") + p("", "In the beginning"), "1 In the beginning\n"},
		{
			"a large letter at the end of a text box", "<w:p>" + r("", "x") + "<w:r><w:txbxContent>" + frame("drop", "O") +
				"</w:txbxContent></w:r></w:p>" + x,
			"x\n\nO\n\nx\n",
		},
		{
			"a text box after a large letter", frame("drop", "O") + "<w:p><w:r><w:txbxContent>" + x + "</w:txbxContent></w:r>" + r("", "nce") +
				"</w:p>", "Once\n\nx\n",
		},
		{"another frame", frame("none", "O") + x, "O\n\nx\n"},
		{"a large letter at the end", frame("drop", "O"), "O\n"},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, nativetest.Zip(t,
			"word/document.xml", `<w:document`+namespaces+`><w:body>`+tt.body+`</w:body></w:document>`, "word/styles.xml", styles))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
