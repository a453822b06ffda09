package odf_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const namespaces = ` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" xmlns:math="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:xml="http://www.w3.org/XML/1998/namespace"`

const stylesXML = `<office:document-styles` + namespaces + `><office:styles>
<style:default-style style:family="paragraph"><style:text-properties fo:language="de" fo:country="DE" fo:font-size="11pt"/></style:default-style>
<style:style style:name="Title" style:family="paragraph"/>
<style:style style:name="Circle" style:family="paragraph" style:parent-style-name="Circle"/>
<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>
<style:style style:name="Illustration" style:family="paragraph" style:parent-style-name="Caption"/>
</office:styles><office:master-styles><style:master-page><style:footer><text:p>footer</text:p></style:footer></style:master-page></office:master-styles></office:document-styles>`

const automatic = `<office:automatic-styles>
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="Bold" style:family="paragraph"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="TBold" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="TThin" style:family="text"><style:text-properties fo:font-weight="normal"/></style:style>
<style:style style:name="TBig" style:family="text"><style:text-properties fo:font-size="16pt"/></style:style>
<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/></style:style>
<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style>
<text:list-style style:name="B"><text:list-level-style-bullet text:level="1" text:bullet-char="x"/></text:list-style>
</office:automatic-styles>`

// document makes an OpenDocument file of a body and further parts, given as pairs of name and content.
func document(t testing.TB, body string, parts ...string) []byte {
	t.Helper()
	return nativetest.Zip(t, append([]string{
		"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", `<?xml version="1.0" encoding="UTF-8"?><office:document-content` + namespaces + `>` + automatic +
			`<office:body>` + body + `</office:body></office:document-content>`,
		"styles.xml", stylesXML,
	}, parts...)...)
}

func text(body string) string   { return "<office:text>" + body + "</office:text>" }
func sheets(body string) string { return "<office:spreadsheet>" + body + "</office:spreadsheet>" }
func deck(body string) string   { return "<office:presentation>" + body + "</office:presentation>" }

func p(content string) string { return "<text:p>" + content + "</text:p>" }

func styled(style, content string) string {
	return `<text:p text:style-name="` + style + `">` + content + "</text:p>"
}

func h(level, content string) string {
	return `<text:h text:outline-level="` + level + `">` + content + "</text:h>"
}

func list(attributes string, items ...string) string {
	return "<text:list " + attributes + "><text:list-item>" + strings.Join(items, "</text:list-item><text:list-item>") +
		"</text:list-item></text:list>"
}

func tr(cells ...string) string {
	return "<table:table-row>" + strings.Join(cells, "") + "</table:table-row>"
}

func tc(attributes, content string) string {
	return "<table:table-cell " + attributes + ">" + content + "</table:table-cell>"
}

// long is more than a cell of a table of data has.
var long = strings.Repeat("word ", 220) + "end"

func table(attributes string, rows ...string) string {
	return "<table:table " + attributes + ">" + strings.Join(rows, "") + "</table:table>"
}

const covered = "<table:covered-table-cell/>"

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, body, want string }{
		{
			"headings nest under the title", styled("P1", "T") + h("1", "H") + h("9", "deep") + styled("Circle", "c"),
			"# T\n\n## H\n\n###### deep\n\nc\n",
		},
		{
			"white space", p(" a \n\t b<text:span> c</text:span><text:s text:c=\"2\"/>d<text:tab/>e<text:line-break/>f "),
			"a b c  d e  \nf\n",
		},
		{"code and caption", styled("P2", `if x:`) + styled("P2", `<text:s text:c="2"/>y()`) +
			styled("Illustration", "Figure 1"), "```\nif x:\n  y()\n```\n\nFigure 1\n"},
		{
			"lists", list(`text:style-name="N"`, p("one"), p("two")+list("", p("two a"), p("two b")),
				p("three")+p("more")) + list(`text:style-name="B"`, p("x")),
			"1. one\n2. two\n    - 2.a) two a\n    - 2.b) two b\n3. three\n\nmore\n\n- x\n",
		},
		{
			"a continued list", list(`text:style-name="N" xml:id="l1"`, p("one")) + p("x") +
				list(`text:style-name="N" text:continue-numbering="true"`, p("two")) +
				list(`text:style-name="N"`, p("one")) + list(`text:continue-list="l1" text:style-name="N"`, p("three")),
			"1. one\n\nx\n\n2. two\n1. one\n3. three\n",
		},
		{"an item that only holds a list", list(`text:style-name="N"`, list("", p("a"))), "- 1.a) a\n"},
		{
			"an item that restarts the count", `<text:list text:style-name="N"><text:list-item text:start-value="7">` +
				p("seven") + `</text:list-item><text:list-header>` + p("plain") + `</text:list-header></text:list>`,
			"7. seven\n\nplain\n",
		},
		{"a numbered heading in a list", list(`text:style-name="N"`, h("1", "H")), "# 1. H\n"},
		{"tracked changes", `<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>` + p("gone") +
			`</text:deletion></text:changed-region></text:tracked-changes>` +
			p(`a<text:change text:change-id="c1"/>b<text:change-start text:change-id="c2"/>new<text:change-end text:change-id="c2"/>`), "abnew\n"},
		{"what is hidden, comments", p(`a<text:span text:style-name="T1">no</text:span><office:annotation><dc:creator>Ada</dc:creator>`+p("remark")+`</office:annotation>b`) + `<text:section text:display="none">` + p("no") + `</text:section><text:section>` + p("c") + `</text:section>`, "ab\n\n\\[author: Ada\\]: remark\n\nc\n"},
		{"formulas", p(`sum<draw:frame><draw:object><math:math><math:msup><math:mi>x</math:mi><math:mn>2</math:mn></math:msup></math:math></draw:object></draw:frame>is`) + p(`a <draw:frame><draw:object><math:math><math:mi>y</math:mi></math:math></draw:object></draw:frame>`), "sum x^2 is\n\na y\n"},
		{"links, fields, ruby", p(`<text:a xlink:href="x">link</text:a> <text:date>May</text:date> <text:ruby><text:ruby-base>base</text:ruby-base><text:ruby-text>no</text:ruby-text></text:ruby>`), "link May base\n"},
		{"notes", p(`Text<text:note><text:note-citation>1</text:note-citation><text:note-body>`+p("The note.")+
			`</text:note-body></text:note>.`) + p("x"), "Text\\[1\\].\n\n\\[1\\] The note.\n\nx\n"},
		{
			"a frame in a list's item", list(`text:style-name="B"`,
				p(`anchor<draw:frame><draw:text-box>`+p("box")+`</draw:text-box><svg:desc>alt</svg:desc></draw:frame>`)),
			"- anchor\n\nbox\n",
		},
		{
			"a list in a frame in a list", list(`text:style-name="B"`,
				p(`anchor<draw:frame><draw:text-box>`+list("", p("box"))+`</draw:text-box></draw:frame>`)),
			"- anchor\n- box\n",
		},
		{"shapes", `<draw:g><draw:custom-shape>` + p("in a shape") + `</draw:custom-shape></draw:g>`, "in a shape\n"},
		{
			"a table with spans", table("", "<table:table-header-rows>"+
				tr(tc(`table:number-columns-spanned="2"`, p("h")), covered, tc("", p("i")))+"</table:table-header-rows>",
				tr(tc(`table:number-rows-spanned="2"`, p("v")), tc("", p("a")), tc("", p("b"))),
				tr(covered, tc("", list("", p("c"), p("d"))), tc("", ""))),
			"| h | h | i |\n| - | - | - |\n| v | a | b |\n| v | - c - d |  |\n",
		},
		{
			"a table in a table", table("", tr(tc("", p("a")), tc("", table("", tr(tc("", p("b")), tc("", p("c"))))))),
			"| a | b \\| c |\n| - | - |\n",
		},
		{
			"headings set by hand", styled("Bold", "Scope") + p(long) + p(`<text:span text:style-name="TBig">Fares</text:span>`) + p(long) +
				p(`<text:span text:style-name="TBold">Lead</text:span> `+long) + styled("Bold", `No<text:span text:style-name="TThin">t</text:span>`) + p(long) +
				table("", tr(tc("", styled("Bold", "Head")+p(long))+tc("", p("b")))),
			"# Scope\n\n" + long + "\n\n# Fares\n\n" + long + "\n\nLead " + long + "\n\nNot\n\n" + long + "\n\n| Head " + long +
				" | b |\n| - | - |\n",
		},
		{
			"a frame as a row", table("", tr(tc("", p("a"))+tc("", p("b")))+tr(tc("", p(long)+list(`text:style-name="B"`, p("i"))+
				table("", tr(tc("", p("b"))+tc("", p("c"))))))+tr(tc("", p("d"))+tc("", p(long)+p("e")))),
			"| a | b |\n| - | - |\n\n" + long + "\n\n- i\n\n| b | c |\n| - | - |\n\n| d | " + long + " e |\n| - | - |\n",
		},
		{
			"a long frame once", table("", tr(tc("", p(long)+p("a")))) + p("b"), long + "\n\na\n\nb\n",
		},
		{
			"a merged cell beside long texts", table("", tr(tc(`table:number-rows-spanned="2"`, p("m"))+tc("", p(long)+p("a")))+
				tr(`<table:covered-table-cell/>`+tc("", p(long)+p("b")))),
			"| m | " + long + " a |\n| - | - |\n| m | " + long + " b |\n",
		},
		{"a frame is not a table", table("", tr(tc("", h("1", "H")+p("x")))), "# H\n\nx\n"},
		{"an index", `<text:table-of-content><text:table-of-content-source><text:index-title-template>no</text:index-title-template></text:table-of-content-source><text:index-body>` + p("Chapter 1") + `</text:index-body></text:table-of-content>`, "Chapter 1\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, odf.New(), extract.ODF, document(t, text(tt.body))); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestNumberedHeadings(t *testing.T) {
	t.Parallel()
	styles := `<office:document-styles` + namespaces +
		`><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style></office:document-styles>`
	body := text(h("1", "A") + h("2", "B") +
		`<text:h text:outline-level="1" text:is-list-header="true">Preface</text:h>` + h("1", "C") + h("2", "D"))
	file := nativetest.Zip(t, "content.xml", `<office:document-content`+namespaces+`><office:body>`+body+
		`</office:body></office:document-content>`, "styles.xml", styles)
	want := "# 1 A\n\n## 1.1 B\n\n# Preface\n\n# 2 C\n\n## 2.1 D\n"
	if got := nativetest.Markdown(t, odf.New(), extract.ODF, file); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSheets(t *testing.T) {
	t.Parallel()
	empty := tc(`table:number-columns-repeated="16384"`, "")
	rest := `<table:table-row table:number-rows-repeated="1048576">` + empty + `</table:table-row>`
	number := func(n string) string { return tc(`office:value-type="float" office:value="`+n+`"`, p(n)) }
	body := table(
		`table:name="Crew"`, `<table:shapes><draw:frame><draw:text-box>`+p("box")+
			`</draw:text-box></draw:frame></table:shapes>`,
		tr(tc("", ""), tc("", p("Crew list")), empty), rest,
		tr(tc("", ""), tc("", p("Name")), tc("", p("Age")+`<office:annotation>`+p("remark")+`</office:annotation>`),
			empty),
		tr(tc("", ""), tc("", p("Ada")), number("36"), tc("", ""), tc(`table:number-columns-repeated="2"`, p("x")),
			empty),
		`<table:table-row table:number-rows-repeated="2">`+tc("", "")+tc("", p("Bob"))+
			tc(`office:value-type="float" office:value="1.5"`, "")+`</table:table-row>`,
		rest,
	) + table(`table:name="Empty"`, rest) + table(`table:name="Hidden" table:style-name="ta1"`, tr(tc("", p("no"))))
	want := "# Crew\n\nCrew list\n\n| Name | Age |  |  |  |\n| - | - | - | - | - |\n| Ada | 36 |  | x | x |\n| Bob " +
		"| 1.5 |  |  |  |\n| Bob | 1.5 |  |  |  |\n\nremark\n\nbox\n"
	if got := nativetest.Markdown(t, odf.New(), extract.ODF, document(t, sheets(body))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSlides(t *testing.T) {
	t.Parallel()
	frame := func(class, content string) string {
		return `<draw:frame presentation:class="` + class + `"><draw:text-box>` + content +
			`</draw:text-box></draw:frame>`
	}
	body := deck(`<draw:page draw:name="one">` + frame("outline", list("", p("a")+list("", p("b")))) +
		frame("title", p("The")+p("title")) + frame("footer", p("footer")) +
		`<draw:frame presentation:class="outline" presentation:placeholder="true"><draw:text-box>` + p("click") +
		`</draw:text-box></draw:frame>` +
		`<presentation:notes>` + frame("page-number", p("7")) + frame("notes", p("Speak up.")) +
		`</presentation:notes></draw:page>` +
		`<draw:page><draw:frame>` + table("", tr(tc("", p("x")), tc("", p("y")))) + `</draw:frame></draw:page>`)
	file := document(t, body)
	want := "# The title\n\n- a\n    - b\n\nSpeak up.\n\n| x | y |\n| - | - |\n"
	if got := nativetest.Markdown(t, odf.New(), extract.ODF, file); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := nativetest.Extract(t, odf.New(), extract.ODF, file, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if last := doc.Blocks[len(doc.Blocks)-1]; doc.Pages != 2 || doc.Blocks[0].Page != 1 || last.Page != 2 {
		t.Errorf("pages: got %d in all, the last block on %d", doc.Pages, last.Page)
	}
	nativetest.Refuses(t, odf.New(), extract.ODF, file, extract.Limits{Pages: 1}, taskerr.QuotaExceeded, "1 slides")
}

// TestSlideTitles: without a placeholder, the title is the short line above all other text, unless that is larger.
func TestSlideTitles(t *testing.T) {
	t.Parallel()
	var styles strings.Builder
	styles.WriteString(`<office:automatic-styles>`)
	for name, size := range map[string]string{"big": "32pt", "small": "12pt"} {
		styles.WriteString(`<style:style style:name="` + name + `" style:family="text"><style:text-properties fo:font-size="` + size +
			`"/></style:style>`)
	}
	styles.WriteString(`</office:automatic-styles>`)
	box := func(y, style, text string) string {
		return `<draw:frame svg:y="` + y + `"><draw:text-box>` +
			p(`<text:span text:style-name="`+style+`">`+text+`</text:span>`) + `</draw:text-box></draw:frame>`
	}
	for _, tt := range []struct{ what, body, want string }{
		{"a large line on top", box("5cm", "small", "body") + box("10mm", "big", "Title"), "# Title\n\nbody\n"},
		{"a line on top", box("1cm", "", "Title") + box("5cm", "", "body"), "# Title\n\nbody\n"},
		{"a sentence on top", box("1cm", "", "A text.") + box("5cm", "", "body"), "A text.\n\nbody\n"},
		{"small on top", box("1cm", "small", "head") + box("5cm", "big", "body"), "head\n\nbody\n"},
		{"side by side", box("1cm", "big", "a") + box("1cm", "big", "b"), "a\n\nb\n"},
		{"alone", box("1cm", "big", "a"), "a\n"},
		{"above a picture", box("1cm", "", "Harbour") + `<draw:frame svg:y="5cm"><draw:image/></draw:frame>`, "# Harbour\n"},
		{"below a picture", box("9cm", "", "Harbour") + `<draw:frame svg:y="5cm"><draw:image/></draw:frame>`, "Harbour\n"},
		{"without a place", box("", "big", "a") + box("", "small", "b"), "a\n\nb\n"},
		{
			"a long text", box("1cm", "big", strings.Repeat("long ", 30)) + box("5cm", "small", "b"),
			strings.Repeat("long ", 29) + "long\n\nb\n",
		},
	} {
		file := nativetest.Zip(t, "content.xml", `<office:document-content`+namespaces+` xmlns:svg="svg" xmlns:fo="fo">`+
			styles.String()+`<office:body>`+deck(`<draw:page>`+tt.body+`</draw:page>`)+`</office:body></office:document-content>`)
		if got := nativetest.Markdown(t, odf.New(), extract.ODF, file); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	chart := `<office:document-content` + namespaces + `><office:body><office:chart><chart:chart><chart:title>` +
		p("Sales") + `</chart:title>` +
		table("", "<table:table-header-rows>"+tr(tc("", ""), tc("", p("2025")), tc("", p("2026")))+
			"</table:table-header-rows>", tr(tc("", p("Oslo")), tc("", p("NaN")), tc("", p("7")))) +
		`</chart:chart></office:chart></office:body></office:document-content>`
	formula := `<math:math` + namespaces +
		`><math:semantics><math:mi>E</math:mi><math:mo>=</math:mo><math:annotation>E = m</math:annotation></math:semantics></math:math>`
	body := text(p(`x<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>`) +
		p(`<draw:frame><draw:object xlink:href="./Object 2"/></draw:frame>`) +
		p(`<draw:object xlink:href="../secret"/>`))
	got := nativetest.Markdown(t, odf.New(), extract.ODF, document(t, body, "Object 1/content.xml", chart,
		"Object 2/content.xml", formula))
	if want := "x\n\nSales\n\n|  | 2025 | 2026 |\n| - | - | - |\n| Oslo |  | 7 |\n\nE =\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	meta := `<office:document-meta` + namespaces +
		`><office:meta><dc:title>Report</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Bob</dc:creator><meta:creation-date>2025-01-02T03:04:05</meta:creation-date><dc:date>2026-01-02</dc:date><meta:generator>W</meta:generator><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword></office:meta></office:document-meta>`
	doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, text(p("x\x20y")), "meta.xml", meta),
		extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Info{
		Format: extract.ODF, Extractor: "native/odf", Title: "Report", Language: "de-DE", Characters: 3,
		Properties: map[string]string{
			"author": "Ada", "created": "2025-01-02T03:04:05", "modified": "2026-01-02", "keywords": "a, b",
			"producer": "W",
		},
	}
	if !reflect.DeepEqual(doc.Info, want) {
		t.Errorf("got %+v", doc.Info)
	}
}

func TestLongTable(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 1200 {
		rows.WriteString(tr(tc("", p(fmt.Sprint("row ", i))), tc("", p("x"))))
	}
	doc, err := nativetest.Extract(t, odf.New(), extract.ODF,
		document(t, sheets(table(`table:name="S"`, rows.String()))), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i, b := range doc.Blocks[1:] {
		if b.Table.Continued != (i > 0) {
			t.Errorf("slice %d: continued %t", i, b.Table.Continued)
		}
		count += len(b.Table.Rows)
	}
	if count != 1200 || len(doc.Blocks) < 3 {
		t.Errorf("got %d rows in %d blocks", count, len(doc.Blocks))
	}
}

func FuzzBody(f *testing.F) {
	f.Add(text(styled("P1", "T") + list(`text:style-name="N"`, p("x"), h("2", "y")) + styled("P2", "z")))
	f.Add(sheets(table(`table:name="S"`,
		tr(tc(`table:number-rows-spanned="3" table:number-columns-repeated="9"`, p("x")), covered), tr(tc("", "")))))
	f.Add(deck(`<draw:page><draw:frame presentation:class="title"><draw:text-box>` + p("T") +
		`</draw:text-box></draw:frame><presentation:notes>` + p("n") + `</presentation:notes></draw:page>`))
	f.Add(text(p(`a<text:note><text:note-body>` + p("n") +
		`</text:note-body></text:note><text:s text:c="3"/><draw:frame>` + table("", tr(tc("", ""))) + `</draw:frame>`)))
	f.Fuzz(func(t *testing.T, body string) { nativetest.Fuzz(t, odf.New(), extract.ODF, document(t, body)) })
}

func FuzzFile(f *testing.F) {
	f.Add(document(f, text(p("x"))))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, odf.New(), extract.ODF, file) })
}
