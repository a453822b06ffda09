package docx_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const namespaces = ` xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"`

const stylesXML = `<w:styles` + namespaces +
	`><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="de-DE"/></w:rPr></w:rPrDefault></w:docDefaults>
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:type="paragraph" w:styleId="Kreis"><w:name w:val="circle"/><w:basedOn w:val="Kreis"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Listing"/><w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Punkt2"><w:name w:val="List Bullet 2"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="character" w:styleId="strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style></w:styles>`

const numberingXML = `<w:numbering` + namespaces + `>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:pStyle w:val="Punkt2"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>`

const footnotesXML = `<w:footnotes` + namespaces +
	`><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote></w:footnotes>`

// document makes a Word file of a body and further parts, given as pairs of name and content.
func document(t testing.TB, body string, parts ...string) []byte {
	t.Helper()
	parts = append(
		parts,
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document`+namespaces+`><w:body>`+body+
			`</w:body></w:document>`,
		"word/styles.xml", stylesXML, "word/numbering.xml", numberingXML, "word/footnotes.xml", footnotesXML,
	)
	return nativetest.Zip(t, parts...)
}

// p is a paragraph of text in a style.
func p(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t xml:space="preserve">` + text +
		`</w:t></w:r></w:p>`
}

// run is a paragraph of a run with properties.
func run(properties, text string) string {
	return `<w:p><w:r><w:rPr>` + properties + `</w:rPr><w:t>` + text + `</w:t></w:r></w:p>`
}

// li is a paragraph in a list.
func li(list, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list +
		`"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func tc(properties, content string) string {
	return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + content + "</w:tc>"
}

func TestExtract(t *testing.T) {
	t.Parallel()
	x := p("", "x")
	long := strings.TrimSpace(strings.Repeat("text ", 300))
	for _, tt := range []struct{ what, body, want string }{
		{"styles by name, in any language", p("Titel", "T") + p("berschrift2", "H") + p("Kapitel", "K") +
			p("Kreis", "c") + p("Heading3", "undefined"), "# T\n\n### H\n\n### K\n\nc\n\n#### undefined\n"},
		{
			"a heading by its own level", `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>H</w:t></w:r></w:p>`,
			"# H\n",
		},
		{
			"code and caption", p("Code", "if x:") + p("Code", "  y()") + p("Beschriftung", "Listing 1"),
			"```\nif x:\n  y()\n```\n\nListing 1\n",
		},
		{"lists", li("1", "0", "a") + p("Punkt2", "b") + li("2", "0", "one") + li("2", "1", "one a") +
			li("2", "1", "one b") + li("2", "0", "two") + li("2", "1", "two a") + li("3", "0", "seven") +
			li("0", "0", "none"), "- a\n    - b\n1. one\n    - 1.a) one a\n    - 1.b) one b\n2. two\n    - 2.a) two " +
			"a\n7. seven\n\nnone\n"},
		{"characters", `<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/><w:t>e</w:t><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FC"/></w:r></w:p>`, "a b  \nc-deα✓\n"},
		{"revisions", `<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom></w:p>`, "new\n"},
		{"hidden text and links", `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>!</w:t></w:r></w:p>`, "link!\n"},
		{"fields", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>no</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:fldSimple w:instr="DATE"><w:r><w:t> May</w:t></w:r></w:fldSimple></w:p>`, "7 May\n"},
		{"a field without its end", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>` + x, "x\n"},
		{
			"a note after a superscript", `<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t>` +
				`<w:footnoteReference w:id="2"/></w:r></w:p>`,
			"10⁶\\[1\\]\n\n\\[1\\] The note.\n",
		},
		{"notes", `<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/><w:commentReference w:id="0"/><w:t>.</w:t></w:r></w:p>` + x, "Text\\[1\\].\n\n\\[1\\] The note.\n\nx\n"},
		{"a text box once", `<w:p><w:r><w:t>anchor</w:t><mc:AlternateContent><mc:Choice Requires="wps"><w:txbxContent>` + p("", "box") + `</w:txbxContent></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + p("", "box") + `</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`, "anchor\n\nbox\n"},
		{
			"content controls", `<w:sdt><w:sdtPr><w:alias w:val="n"/></w:sdtPr><w:sdtContent>` + x +
				`</w:sdtContent></w:sdt><w:p><w:sdt><w:sdtContent><w:r><w:t>y</w:t></w:r></w:sdtContent></w:sdt></w:p>`,
			"x\n\ny\n",
		},
		{"formulas", `<w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>`, "a/b\n"},
		{"a table with spans", `<w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr><w:tr>` +
			tc(`<w:gridSpan w:val="2"/>`, p("", "h")) + tc("", p("", "i")) + `</w:tr><w:tr>` +
			tc(`<w:vMerge w:val="restart"/>`, p("", "v")) + tc("", p("", "a")) + tc("", p("", "b")) + `</w:tr><w:tr>` +
			tc(`<w:vMerge/>`, "<w:p/>") + tc("", li("1", "0", "c")+li("1", "0", "d")) + tc("", "<w:p/>") +
			`</w:tr></w:tbl>`, "| h | h | i |\n| - | - | - |\n| v | a | b |\n| v | - c - d |  |\n"},
		{
			"a row that starts late, a deleted row", `<w:tbl><w:tr>` + tc("", p("", "a")) + tc("", p("", "b")) +
				`</w:tr><w:tr><w:trPr><w:del/></w:trPr>` + tc("", p("", "gone")) +
				`</w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>` + tc("", p("", "c")) + `</w:tr></w:tbl>`,
			"| a | b |\n| - | - |\n|  | c |\n",
		},
		{
			"a table in a table", `<w:tbl><w:tr>` + tc("", p("", "a")) +
				tc("", `<w:tbl><w:tr>`+tc("", p("", "b"))+tc("", p("", "c"))+`</w:tr></w:tbl><w:p/>`) + `</w:tr></w:tbl>`,
			"| a | b \\| c |\n| - | - |\n",
		},
		{
			"a frame as a row", `<w:tbl><w:tr>` + tc("", p("", "a")) + tc("", p("", "b")) + `</w:tr><w:tr>` +
				tc(`<w:gridSpan w:val="2"/>`, p("", long)+li("1", "0", "i")+`<w:tbl><w:tr>`+tc("", p("", "b"))+
					tc("", p("", "c"))+`</w:tr></w:tbl>`) + tc("", `<w:p/>`) + `</w:tr><w:tr>` + tc("", p("", "d")) +
				tc("", p("", long)+p("", "e")) + `</w:tr></w:tbl>`,
			"| a | b |\n| - | - |\n\n" + long + "\n\n- i\n\n| b | c |\n| - | - |\n\n| d | " + long + " e |\n| - | - |\n",
		},
		{
			"a long frame", `<w:tbl><w:tr>` + tc("", p("", long)+p("", "a")) + `</w:tr></w:tbl>` + p("", "b"),
			long + "\n\na\n\nb\n",
		},
		{
			"a merged cell beside long texts", `<w:tbl><w:tr>` + tc(`<w:vMerge w:val="restart"/>`, `<w:p/>`) +
				tc("", p("", long)+p("", "a")) + `</w:tr><w:tr>` + tc(`<w:vMerge/>`, `<w:p/>`) + tc("", p("", "b")) +
				`</w:tr></w:tbl>`,
			"|  | " + long + " a |\n| - | - |\n|  | b |\n",
		},
		{
			"headings set by hand", run("<w:b/>", "Alpha") + p("", long) + run(`<w:sz w:val="32"/>`, "Big") + p("", long) +
				run(`<w:rStyle w:val="strong"/>`, "By style") + p("", long) + run(`<w:b/><w:b w:val="0"/>`, "Not") + p("", long) +
				`<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Lead.</w:t></w:r><w:r><w:t> ` + long + `</w:t></w:r></w:p>` +
				`<w:tbl><w:tr>` + tc("", run("<w:b/>", "Head")+p("", long)) + tc("", p("", "b")) + `</w:tr></w:tbl>`,
			"# Alpha\n\n" + long + "\n\n# Big\n\n" + long + "\n\n## By style\n\n" + long + "\n\nNot\n\n" + long + "\n\nLead. " + long +
				"\n\n| Head " + long + " | b |\n| - | - |\n",
		},
		{
			"a frame", `<w:tbl><w:tr>` + tc("", p("berschrift2", "H")+li("1", "0", "i")) + `</w:tr></w:tbl>`,
			"## H\n\n- i\n",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, tt.body)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	core := func(title string) string {
		return `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>` + title +
			`</dc:title><dc:creator>Ada</dc:creator></cp:coreProperties>`
	}
	for title, want := range map[string]string{
		"Annual report": "Annual report", "Microsoft Word - x.doc": "The title",
		"": "The title",
	} {
		doc, err := nativetest.Extract(t, docx.New(nil), extract.DOCX,
			document(t, p("Titel", "The title"), "docProps/core.xml", core(title), "docProps/app.xml",
				"<Properties><Application>W</Application></Properties>"), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		info := extract.Info{
			Format: extract.DOCX, Extractor: "native/docx", Title: want, Language: "de-DE", Characters: 9,
			Properties: map[string]string{"author": "Ada", "producer": "W"},
		}
		if !reflect.DeepEqual(doc.Info, info) {
			t.Errorf("title %q: got %+v", title, doc.Info)
		}
	}
}

// TestLongTable: a long table is emitted in slices, and no slice cuts a merged cell.
func TestLongTable(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString("<w:tbl>")
	for i := range 1000 {
		merge, text := `<w:vMerge w:val="restart"/>`, "m"
		if i%3 > 0 {
			merge, text = `<w:vMerge/>`, ""
		}
		body.WriteString("<w:tr>" + tc(merge, p("", text)) + tc("", p("", "c")) + "</w:tr>")
	}
	body.WriteString("</w:tbl>")
	doc, err := nativetest.Extract(t, docx.New(nil), extract.DOCX, document(t, body.String()), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range doc.Blocks {
		for _, row := range b.Table.Grid() {
			rows++
			if len(row) != 2 || row[0] != "m" || row[1] != "c" {
				t.Fatalf("row %d is %q", rows, row)
			}
		}
	}
	if rows != 1000 || len(doc.Blocks) < 2 {
		t.Errorf("%d rows in %d slices", rows, len(doc.Blocks))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<w:sdt>", 100_000)
	bomb := document(t, "<w:p><w:r><w:t>"+strings.Repeat("a", 64<<20)+"</w:t></w:r></w:p>")
	liar := bytes.Clone(bomb)
	forgeSizes(t, liar)
	many := []string{"word/document.xml", "<x/>"}
	for range 100 {
		many = append(many, "part", "")
	}
	whole := document(t, p("", strings.Repeat("text ", 100)))
	nativetest.RefusesAll(t, docx.New(nil), extract.DOCX, []nativetest.Refusal{
		{
			What: "deep XML", Content: document(t, deep), Class: taskerr.CorruptionDetected,
			Message: "nested deeper than 256",
		},
		{What: "zip bomb", Content: bomb, Class: taskerr.CorruptionDetected, Message: "zip bomb"},
		{
			What: "zip bomb that lies about its size", Content: liar,
			Class: taskerr.CorruptionDetected, Message: "damaged",
		},
		{
			What: "too much to unpack", Content: bomb, Limits: extract.Limits{ZipBytes: 1 << 20, ZipRatio: 1 << 20},
			Class: taskerr.CorruptionDetected, Message: "more than 1 MB",
		},
		{
			What: "one endless text", Content: bomb, Limits: extract.Limits{ZipRatio: 1 << 20},
			Class: taskerr.CorruptionDetected, Message: "a piece of more than 4 MB",
		},
		{
			What: "too many parts", Content: nativetest.Zip(t, many...), Limits: extract.Limits{ZipEntries: 50},
			Class: taskerr.QuotaExceeded, Message: "more than 50 parts",
		},
		{
			What: "too much text", Content: document(t, strings.Repeat(p("", "0123456789"), 20)),
			Limits: extract.Limits{Characters: 100}, Class: taskerr.QuotaExceeded, Message: "100 characters",
		},
		{
			What: "too much text in one paragraph", Content: document(t,
				"<w:p>"+strings.Repeat("<w:r><w:t>0123456789</w:t></w:r>", 100)+"</w:p>"),
			Limits: extract.Limits{Characters: 100}, Class: taskerr.QuotaExceeded, Message: "100 characters",
		},
		{What: "truncated", Content: whole[:len(whole)/2], Class: taskerr.CorruptionDetected, Message: "damaged"},
		{What: "XML cut off", Content: document(t, "<w:p>"), Class: taskerr.CorruptionDetected, Message: "XML"},
		{
			What: "an entity declaration", Content: nativetest.Zip(t, "word/document.xml",
				`<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document`+namespaces+
					`><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`),
			Class: taskerr.CorruptionDetected, Message: "XML",
		},
		{
			What: "no text part", Content: nativetest.Zip(t, "word/styles.xml", stylesXML),
			Class: taskerr.CorruptionDetected, Message: "no text part",
		},
		{
			What: "no body", Content: nativetest.Zip(t, "word/document.xml", "<w:document"+namespaces+"/>"),
			Class: taskerr.CorruptionDetected, Message: "no body",
		},
	})
}

// TestMemory: text that is held back counts toward the limit.
func TestMemory(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, docx.New(nil), document(t, p("", strings.Repeat("x", 1000))))
}

// forgeSizes sets the unpacked sizes in the zip's directory to 1000.
func forgeSizes(t *testing.T, file []byte) {
	t.Helper()
	found := false
	for at := bytes.Index(file, []byte("PK\x01\x02")); at >= 0 && at+46 < len(file); {
		binary.LittleEndian.PutUint32(file[at+24:], 1000)
		found = true
		next := bytes.Index(file[at+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	if !found {
		t.Fatal("no directory")
	}
}

func FuzzBody(f *testing.F) {
	f.Add(p("Titel", "T") + li("2", "1", "x") + p("Code", "y"))
	f.Add(`<w:tbl><w:tr>` + tc(`<w:gridSpan w:val="2"/><w:vMerge w:val="restart"/>`, p("", "h")) + `</w:tr><w:tr>` +
		tc(`<w:vMerge/>`, "") + `</w:tr></w:tbl>`)
	f.Add(`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:t>a</w:t><w:footnoteReference w:id="2"/><w:sym w:font="Symbol" w:char="F061"/></w:r></w:p>`)
	f.Fuzz(func(t *testing.T, body string) { nativetest.Fuzz(t, docx.New(nil), extract.DOCX, document(t, body)) })
}

func FuzzFile(f *testing.F) {
	f.Add(document(f, p("", "x")))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, docx.New(nil), extract.DOCX, file) })
}
