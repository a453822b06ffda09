package nativetest

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Linked is a document with links.
type Linked struct {
	Name    string
	Format  extract.Format
	Content []byte
}

// The targets of the links in the documents of LinkedDocuments. What follows the first may not be kept.
const (
	LinkTarget   = "https://example.com/tides?port=1&day=2"
	escapedLink  = "https://example.com/tides?port=1&amp;day=2"
	hostileLinks = `<a href="javascript:alert(1)">script</a> and <a href="file:///etc/passwd">file</a> and ` +
		`<a href="data:text/html,x">data</a>`
)

// external are the relations of an Office part: r0 leads to LinkTarget, r1 to a script, r2 to a file.
const external = `<Relationships>` +
	`<Relationship Id="r0" Type="` + OfficeRelations + `hyperlink" Target="` + escapedLink + `" TargetMode="External"/>` +
	`<Relationship Id="r1" Type="` + OfficeRelations + `hyperlink" Target="javascript:alert(1)" TargetMode="External"/>` +
	`<Relationship Id="r2" Type="` + OfficeRelations + `hyperlink" Target="file:///etc/passwd" TargetMode="External"/>` +
	`</Relationships>`

const officeNames = ` xmlns:w="w" xmlns:a="a" xmlns:p="p" xmlns:s="s" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// LinkedDocuments returns a document of each format that has links. Each has the paragraph "See the tide tables, the
// annex and write to us.", in which "tide tables" leads to LinkTarget, "annex" to a place in the document, and "write
// to us" to mailto:desk@example.com, as far as the format knows such links; then targets that are not kept, and a
// table with a link in a cell.
func LinkedDocuments(t testing.TB) []Linked {
	t.Helper()
	return []Linked{
		{"page.html", extract.HTML, []byte(`<html><body><h1>Harbour guide</h1><p>See the <a href="` + escapedLink +
			`">tide  tables</a>, the <a href="#annex">annex</a> and <a href="mailto:desk@example.com">write to us</a>.</p>` +
			`<p>No ` + hostileLinks + `.</p><ul><li>First <a href="` + escapedLink + `">item</a></li></ul>` +
			`<table><tr><th>Port</th><th>Page</th></tr><tr><td>North</td><td>on <a href="` + escapedLink +
			`">the web</a></td></tr></table></body></html>`)},
		{"guide.md", extract.Markdown, []byte("# Harbour guide\n\nSee the [tide tables](" + LinkTarget +
			"), the [annex](#annex) and [write to us](mailto:desk@example.com).\n\nNo [script](javascript:alert(1)) and " +
			"[file](file:///etc/passwd) and [data](data:text/html,x).\n\n- First [item](" + LinkTarget +
			")\n\n| Port | Page |\n| - | - |\n| North | on [the web](" + LinkTarget + ") |\n")},
		{"guide.docx", extract.DOCX, linkedWord(t)},
		{"guide.pptx", extract.PPTX, linkedSlides(t)},
		{"guide.xlsx", extract.XLSX, linkedSheet(t)},
		{"guide.odt", extract.ODF, linkedODT(t)},
		{"guide.rtf", extract.RTF, []byte(`{\rtf1\ansi{\stylesheet{\s1\outlinelevel0 heading 1;}}\pard\s1 Harbour guide\par ` +
			`\pard See the {\field{\*\fldinst{HYPERLINK "` + LinkTarget + `"}}{\fldrslt{\ul tide tables}}}, the ` +
			`{\field{\*\fldinst{HYPERLINK \\l "annex"}}{\fldrslt annex}} and ` +
			`{\field{\*\fldinst{HYPERLINK "mailto:desk@example.com"}}{\fldrslt write to us}}.\par ` +
			`No {\field{\*\fldinst{HYPERLINK "javascript:alert(1)"}}{\fldrslt script}} and ` +
			`{\field{\*\fldinst{HYPERLINK "file:///etc/passwd"}}{\fldrslt file}}.\par ` +
			`\trowd\cellx3000\cellx6000\pard\intbl Port\cell Page\cell\row ` +
			`\trowd\cellx3000\cellx6000\pard\intbl North\cell on {\field{\*\fldinst{HYPERLINK "` + LinkTarget +
			`"}}{\fldrslt the web}}\cell\row\pard\par}`)},
		{"guide.epub", extract.EPUB, Zip(t, "mimetype", "application/epub+zip", "META-INF/container.xml",
			`<container><rootfiles><rootfile full-path="b/book.opf"/></rootfiles></container>`, "b/book.opf",
			`<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>`+
				`<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>`+
				`<spine><itemref idref="a"/><itemref idref="c"/></spine></package>`,
			"b/a.xhtml", `<html><body><h1>Harbour guide</h1><p>See the <a href="`+escapedLink+
				`">tide tables</a>, the <a href="c.xhtml#annex">annex</a> and `+
				`<a href="mailto:desk@example.com">write to us</a>.</p><p>No `+hostileLinks+`.</p><table><tr><th>Port</th>`+
				`<th>Page</th></tr><tr><td>North</td><td>on <a href="`+escapedLink+`">the web</a></td></tr></table></body></html>`,
			"b/c.xhtml", `<html><body><h2 id="annex">Annex</h2></body></html>`)},
	}
}

func linkedWord(t testing.TB) []byte {
	text := func(s string) string { return `<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>` }
	link := func(attr, s string) string { return `<w:hyperlink ` + attr + `>` + text(s) + `</w:hyperlink>` }
	field := func(code, s string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve">` + code +
			`</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + text(s) +
			`<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	return Zip(t, "word/document.xml", `<w:document`+officeNames+`><w:body><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr>`+
		text("Harbour guide")+`</w:p><w:p>`+text("See the ")+link(`r:id="r0"`, "tide tables")+text(", the ")+
		link(`w:anchor="annex"`, "annex")+text(" and ")+field(` HYPERLINK "mailto:desk@example.com" `, "write to us")+
		text(".")+`</w:p><w:p>`+text("No ")+link(`r:id="r1"`, "script")+text(" and ")+link(`r:id="r2"`, "file")+
		text(" and ")+field(`HYPERLINK "data:text/html,x"`, "data")+text(".")+`</w:p><w:tbl><w:tr><w:tc><w:p>`+text("Port")+
		`</w:p></w:tc><w:tc><w:p>`+text("Page")+`</w:p></w:tc></w:tr><w:tr><w:tc><w:p>`+text("North")+
		`</w:p></w:tc><w:tc><w:p>`+text("on ")+`<w:fldSimple w:instr=' HYPERLINK "`+escapedLink+`" '>`+text("the web")+
		`</w:fldSimple></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`, "word/_rels/document.xml.rels", external)
}

func linkedSlides(t testing.TB) []byte {
	text := func(s string) string { return `<a:r><a:t>` + s + `</a:t></a:r>` }
	link := func(attr, s string) string {
		return `<a:r><a:rPr><a:hlinkClick ` + attr + `/></a:rPr><a:t>` + s + `</a:t></a:r>`
	}
	shape := func(place, paragraphs string) string {
		return `<p:sp><p:nvSpPr><p:nvPr>` + place + `</p:nvPr></p:nvSpPr><p:txBody>` + paragraphs + `</p:txBody></p:sp>`
	}
	cell := func(s string) string { return `<a:tc><a:txBody><a:p>` + s + `</a:p></a:txBody></a:tc>` }
	return Zip(t, "ppt/presentation.xml", `<p:presentation`+officeNames+
		`><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", Relations("slide", "slides/slide1.xml"),
		"ppt/slides/slide1.xml", `<p:sld`+officeNames+`><p:cSld><p:spTree>`+
			shape(`<p:ph type="title"/>`, `<a:p>`+text("Harbour guide")+`</a:p>`)+
			shape("", `<a:p>`+text("See the ")+link(`r:id="r0"`, "tide tables")+text(", the ")+
				link(`action="ppaction://hlinksldjump" r:id="r3"`, "annex")+text(" and ")+
				link(`r:id="r4"`, "write to us")+text(".")+
				`</a:p><a:p>`+text("No ")+link(`r:id="r1"`, "script")+text(" and ")+link(`r:id="r2"`, "file")+text(".")+`</a:p>`)+
			`<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>`+cell(text("Port"))+cell(text("Page"))+
			`</a:tr><a:tr>`+cell(text("North"))+cell(text("on ")+link(`r:id="r0"`, "the web"))+
			`</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame></p:spTree></p:cSld></p:sld>`,
		"ppt/slides/_rels/slide1.xml.rels", external[:len(external)-len("</Relationships>")]+
			`<Relationship Id="r3" Type="`+OfficeRelations+`slide" Target="slide1.xml"/>`+
			`<Relationship Id="r4" Type="`+OfficeRelations+
			`hyperlink" Target="mailto:desk@example.com" TargetMode="External"/></Relationships>`)
}

func linkedSheet(t testing.TB) []byte {
	cell := func(s string) string { return `<c t="inlineStr"><is><t>` + s + `</t></is></c>` }
	return Zip(t, "xl/workbook.xml", `<workbook`+officeNames+
		`><sheets><sheet name="Harbour guide" r:id="r0"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", Relations("worksheet", "worksheets/sheet1.xml"),
		"xl/worksheets/sheet1.xml", `<worksheet`+officeNames+`><sheetData><row r="1">`+cell("Port")+cell("Page")+
			cell("Table")+`</row><row r="2">`+cell("North")+cell("tide tables")+cell("annex")+`</row><row r="3">`+
			cell("South")+cell("script")+cell("file")+`</row><row r="5">`+cell("the web")+`</row></sheetData><hyperlinks>`+
			`<hyperlink ref="B2" r:id="r0"/><hyperlink ref="C2" location="Annex!A1"/><hyperlink ref="B3" r:id="r1"/>`+
			`<hyperlink ref="C3" r:id="r2"/><hyperlink ref="A5" r:id="r0"/></hyperlinks></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels", external)
}

func linkedODT(t testing.TB) []byte {
	link := func(target, s string) string { return `<text:a xlink:href="` + target + `">` + s + `</text:a>` }
	return Zip(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml",
		`<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:xlink="x"><office:body><office:text>`+
			`<text:h text:outline-level="1">Harbour guide</text:h><text:p>See the `+link(escapedLink, "tide tables")+`, the `+
			link("#annex", "annex")+` and `+link("mailto:desk@example.com", "write to us")+`.</text:p><text:p>No `+
			link("javascript:alert(1)", "script")+` and `+link("file:///etc/passwd", "file")+`.</text:p>`+
			`<table:table><table:table-row><table:table-cell><text:p>Port</text:p></table:table-cell>`+
			`<table:table-cell><text:p>Page</text:p></table:table-cell></table:table-row><table:table-row>`+
			`<table:table-cell><text:p>North</text:p></table:table-cell><table:table-cell><text:p>on `+
			link(escapedLink, "the web")+`</text:p></table:table-cell></table:table-row></table:table>`+
			`</office:text></office:body></office:document-content>`)
}
