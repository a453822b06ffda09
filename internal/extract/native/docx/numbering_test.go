package docx_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// lvl is a level of a list.
func lvl(level, start, format, text, more string) string {
	return `<w:lvl w:ilvl="` + level + `"><w:start w:val="` + start + `"/><w:numFmt w:val="` + format + `"/><w:lvlText w:val="` + text +
		`"/>` + more + `</w:lvl>`
}

// TestOverrides: a use of a list may have levels of its own (w:lvlOverride).
func TestOverrides(t *testing.T) {
	t.Parallel()
	override := func(level, content string) string {
		return `<w:lvlOverride w:ilvl="` + level + `">` + content + `</w:lvlOverride>`
	}
	list := `<w:abstractNum w:abstractNumId="0">` + lvl("0", "1", "decimal", "%1.", "") + lvl("1", "1", "lowerLetter", "%1.%2)", "") +
		`</w:abstractNum>`
	heading := `<w:p><w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>H</w:t></w:r></w:p>`
	styles := `<w:styles` + namespaces + `><w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:pPr><w:numPr>` +
		`<w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>`
	for _, tt := range []struct{ what, overrides, body, want string }{
		{"none", "", li("1", "0", "a") + li("1", "1", "b"), "1. a\n    - 1.a) b\n"},
		{
			"a level", override("0", lvl("0", "3", "upperRoman", "Part %1", "")), li("1", "0", "a") + li("1", "1", "b") + li("1", "0", "c"),
			"- Part III a\n    - III.a) b\n- Part IV c\n",
		},
		{
			"another number as well", override("0", `<w:startOverride w:val="5"/>`+lvl("0", "1", "upperRoman", "%1.", "")),
			li("1", "0", "a") + heading, "- V. a\n\n# VI. H\n",
		},
		{
			"of one use only", override("0", lvl("0", "1", "upperRoman", "Part %1", "")), li("1", "0", "a") + li("2", "0", "b"),
			"- Part I a\n2. b\n",
		},
		{"in headings", override("0", lvl("0", "1", "upperLetter", "Annex %1:", "")), heading + heading, "# Annex A: H\n\n# Annex B: H\n"},
		{
			"Chinese numbers", override("0", lvl("0", "9", "chineseCountingThousand", "第%1章", "")), heading + heading,
			"# 第九章 H\n\n# 第十章 H\n",
		},
		{
			"its restart", override("1", lvl("1", "1", "decimal", "%2)", `<w:lvlRestart w:val="0"/>`)),
			li("1", "0", "a") + li("1", "1", "b") + li("1", "0", "c") + li("1", "1", "d"),
			"1. a\n    1) b\n2. c\n    2) d\n",
		},
		{
			"its style", override("1", lvl("1", "1", "decimal", "(%2)", `<w:pStyle w:val="Clause"/>`)),
			li("1", "0", "a") + p("Clause", "c"), "1. a\n    - (1) c\n",
		},
		{"of a level that lists lack", override("9", lvl("9", "1", "upperRoman", "%1.", "")), li("1", "0", "a"), "1. a\n"},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, nativetest.Zip(t,
			"word/document.xml", `<w:document`+namespaces+`><w:body>`+tt.body+`</w:body></w:document>`,
			"word/styles.xml", styles, "word/numbering.xml", `<w:numbering`+namespaces+`>`+list+
				`<w:num w:numId="1"><w:abstractNumId w:val="0"/>`+tt.overrides+
				`</w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num></w:numbering>`))
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}

// TestLongMarker: a list may define a marker of any length, which each of its items would repeat.
func TestLongMarker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, text, want string }{
		{"text", strings.Repeat("alpha %1 ", 1000), strings.Repeat("alpha 1 ", 11) + "a"},
		{"numbers", strings.Repeat("%1", 50), strings.Repeat("1", 50)},
		{"runes", "a" + strings.Repeat("第", 50) + "%1", "a" + strings.Repeat("第", 33)},
		{"a usual one", "Section %1 of the agreement", "Section 1 of the agreement"},
	} {
		doc, err := nativetest.Extract(t, docx.New(nil), extract.DOCX, nativetest.Zip(t,
			"word/document.xml", `<w:document`+namespaces+`><w:body>`+li("1", "0", "x")+`</w:body></w:document>`,
			"word/numbering.xml", `<w:numbering`+namespaces+`><w:abstractNum w:abstractNumId="0">`+lvl("0", "1", "decimal", tt.text, "")+
				`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Blocks) != 1 || doc.Blocks[0].Marker != tt.want {
			t.Errorf("%s: got %+v; want %q", tt.what, doc.Blocks, tt.want)
		}
	}
}

// TestInheritedNumbers: a style has its list and its level there each from the nearest style that sets it.
func TestInheritedNumbers(t *testing.T) {
	t.Parallel()
	style := func(id, basedOn, numbers string) string {
		return `<w:style w:type="paragraph" w:styleId="` + id + `"><w:name w:val="` + id + `"/><w:basedOn w:val="` + basedOn +
			`"/><w:pPr><w:numPr>` + numbers + `</w:numPr></w:pPr></w:style>`
	}
	const inList, second = `<w:numId w:val="1"/>`, `<w:ilvl w:val="1"/>`
	for _, tt := range []struct{ what, styles, linked, want string }{
		{"both in one style", style("A", "", inList) + style("B", "A", second+inList), "", "1. a\n    - 1.1 b\n    - 1.2 c\n2. d\n"},
		{"the level alone", style("A", "", inList) + style("B", "A", second), "", "1. a\n    - 1.1 b\n    - 1.2 c\n2. d\n"},
		{"the list alone", style("Base", "", second) + style("A", "", inList) + style("B", "Base", inList), "", "1. a\n    - 1.1 b\n    - 1.2 c\n2. d\n"},
		{"nothing of its own", style("A", "", inList) + style("B", "A", ""), "", "1. a\n2. b\n3. c\n4. d\n"},
		{"linked by the list", style("A", "", inList) + style("B", "A", ""), "B", "1. a\n    - 1.1 b\n    - 1.2 c\n2. d\n"},
		{
			"a nearer level than the linked one", style("Base", "", inList) + style("A", "Base", `<w:ilvl w:val="0"/>`) + style("B", "Base", ""),
			"Base", "1. a\n    - 1.1 b\n    - 1.2 c\n2. d\n",
		},
		{"not in the list", style("A", "", inList) + style("B", "A", `<w:numId w:val="0"/>`), "", "1. a\n\nb\n\nc\n\n2. d\n"},
	} {
		got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, nativetest.Zip(t,
			"word/document.xml", `<w:document`+namespaces+`><w:body>`+p("A", "a")+p("B", "b")+p("B", "c")+p("A", "d")+`</w:body></w:document>`,
			"word/styles.xml", `<w:styles`+namespaces+`>`+tt.styles+`</w:styles>`,
			"word/numbering.xml", `<w:numbering`+namespaces+`><w:abstractNum w:abstractNumId="0">`+lvl("0", "1", "decimal", "%1.", "")+
				lvl("1", "1", "decimal", "%1.%2", `<w:pStyle w:val="`+tt.linked+`"/>`)+
				`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`))
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}
