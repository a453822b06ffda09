package pptx_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pptx"
)

const (
	namespaces = ` xmlns:p="p" xmlns:a="a" xmlns:c="c" xmlns:dgm="dgm" xmlns:mc="mc" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
)

// deck makes a presentation of slides, given as the content of their p:spTree, and further parts, pairs of name
// and content. The last slide is in the first part, so file order and presentation order differ. A section names the
// slides again, as PowerPoint writes it (p14:sectionLst).
func deck(t testing.TB, slides []string, parts ...string) []byte {
	t.Helper()
	var ids, sections, relations strings.Builder
	for i, content := range slides {
		part := len(slides) - i
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="rId%d"/>`, 256+i, i)
		fmt.Fprintf(&sections, `<p14:sldId id="%d"/>`, 256+i)
		fmt.Fprintf(&relations, `<Relationship Id="rId%d" Type="%sslide" Target="slides/slide%d.xml"/>`, i,
			nativetest.OfficeRelations, part)
		name := fmt.Sprintf("ppt/slides/slide%d.xml", part)
		if !slices.Contains(parts, name) {
			parts = append(parts, name, "<p:sld"+namespaces+"><p:cSld><p:spTree>"+content+
				"</p:spTree></p:cSld></p:sld>")
		}
	}
	relations.WriteString(`<Relationship Id="a" Type="` + nativetest.OfficeRelations +
		`commentAuthors" Target="commentAuthors.xml"/>`)
	parts = append(
		parts,
		"ppt/presentation.xml", `<p:presentation`+namespaces+`><p:sldIdLst>`+ids.String()+
			`</p:sldIdLst><p:sldSz cx="1000000" cy="1000000"/><p:extLst><p:ext>`+
			`<p14:sectionLst xmlns:p14="p14"><p14:section name="All"><p14:sldIdLst>`+sections.String()+
			`</p14:sldIdLst></p14:section></p14:sectionLst></p:ext></p:extLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", "<Relationships>"+relations.String()+"</Relationships>",
		"ppt/slideLayouts/l.xml", `<p:sldLayout`+namespaces+`><p:cSld><p:spTree>
			<p:sp><p:nvSpPr><p:nvPr><p:ph type="body" idx="1"/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="0" y="500000"/><a:ext cx="10" cy="10"/></a:xfrm></p:spPr><p:txBody><a:p><a:r><a:t>Click to edit</a:t></a:r></a:p></p:txBody></p:sp>
			<p:sp><p:nvSpPr><p:nvPr><p:ph type="subTitle" idx="2"/></p:nvPr></p:nvSpPr><p:txBody><a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle></p:txBody></p:sp></p:spTree></p:cSld></p:sldLayout>`,
		"ppt/slideLayouts/_rels/l.xml.rels", nativetest.Relations("slideMaster", "../slideMasters/m.xml"),
		"ppt/slideMasters/m.xml", `<p:sldMaster`+namespaces+
			`><p:cSld><p:spTree/></p:cSld><p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle></p:txStyles></p:sldMaster>`,
	)
	if !slices.Contains(parts, "ppt/slides/_rels/slide1.xml.rels") {
		parts = append(parts, "ppt/slides/_rels/slide1.xml.rels",
			nativetest.Relations("slideLayout", "../slideLayouts/l.xml"))
	}
	return nativetest.Zip(t, parts...)
}

// p is a paragraph with properties.
func p(properties, text string) string {
	return "<a:p>" + properties + "<a:r><a:rPr lang=\"de-DE\"/><a:t>" + text + "</a:t></a:r></a:p>"
}

// fontRun is a run with fonts.
func fontRun(fonts, text string) string {
	return "<a:r><a:rPr>" + fonts + "</a:rPr><a:t>" + text + "</a:t></a:r>"
}

// sp is a shape: placeholder is its p:ph, where its a:off and a:ext; both may be empty.
func sp(placeholder, where, paragraphs string) string {
	if where != "" {
		where = "<a:xfrm>" + where + "</a:xfrm>"
	}
	return "<p:sp><p:nvSpPr><p:cNvPr id=\"1\" name=\"Name\" descr=\"Description\"/><p:nvPr>" + placeholder +
		"</p:nvPr></p:nvSpPr><p:spPr>" + where + "</p:spPr><p:txBody><a:bodyPr/>" + paragraphs + "</p:txBody></p:sp>"
}

// at is a position in units of 100000 EMU.
func at(x, y int) string {
	return fmt.Sprintf(`<a:off x="%d" y="%d"/><a:ext cx="100000" cy="100000"/>`, x, y)
}

func frame(data string) string {
	return `<p:graphicFrame><p:xfrm>` + at(0, 0) + `</p:xfrm><a:graphic><a:graphicData>` + data +
		`</a:graphicData></a:graphic></p:graphicFrame>`
}

func tc(attributes, text string) string {
	return "<a:tc" + attributes + "><a:txBody>" + p("", text) + "</a:txBody></a:tc>"
}

func TestSlide(t *testing.T) {
	t.Parallel()
	title, body := `<p:ph type="title"/>`, `<p:ph idx="1"/>`
	number := func(scheme, more string) string {
		return `<a:pPr><a:buAutoNum type="` + scheme + `"` + more + `/></a:pPr>`
	}
	for _, tt := range []struct{ what, slide, want string }{
		{
			"a title comes first, on one line", sp("", at(0, 0), p("", "above")) +
				sp(title, at(0, 500_000), "<a:p><a:r><a:t>The</a:t></a:r><a:br/><a:r><a:t>title</a:t></a:r></a:p>"),
			"# The title\n\nabove\n",
		},
		{"shapes by rows, not by their order in the file", sp("", at(0, 500_000), p("", "below")) +
			sp("", at(500_000, 0), p("", "right")) + sp("", at(0, 40_000), p("", "left")), "left\n\nright\n\nbelow\n"},
		{
			"columns of headings and texts, as the layout Comparison has them", sp(title, at(0, 0), p("", "Title")) +
				sp("", at(0, 300_000), p("", "Pros")) + sp("", at(0, 500_000), p("", "cheap")) +
				sp("", at(540_000, 300_000), p("", "Cons")) + sp("", at(500_000, 500_000), p("", "slow")) +
				sp("", at(0, 800_000), p("", "Source")),
			"# Title\n\nPros\n\ncheap\n\nCons\n\nslow\n\nSource\n",
		},
		{
			"rows that the file has as rows", sp("", at(0, 300_000), p("", "a")) + sp("", at(500_000, 300_000), p("", "b")) +
				sp("", at(0, 500_000), p("", "c")) + sp("", at(500_000, 500_000), p("", "d")),
			"a\n\nb\n\nc\n\nd\n",
		},
		{
			"rows of other columns", sp("", at(0, 300_000), p("", "a")) + sp("", at(0, 500_000), p("", "c")) +
				sp("", at(500_000, 300_000), p("", "b")) + sp("", at(600_000, 500_000), p("", "d")),
			"a\n\nb\n\nc\n\nd\n",
		},
		{"a placeholder's position from its layout", sp("", at(0, 600_000), p("", "below")) +
			sp(body, "", p("", "item")) + sp("", at(0, 400_000), p("", "above")), "above\n\n- item\n\nbelow\n"},
		{"prompts are not content", sp(body, "", "") + sp("", at(0, 0), "<a:p><a:endParaRPr/></a:p>") +
			sp(title, "", ""), ""},
		{
			"bullets of master, layout, shape and paragraph", sp(body, "",
				p("", "a")+p(`<a:pPr lvl="1"/>`, "b")+p(`<a:pPr><a:buNone/></a:pPr>`, "c")) +
				sp(`<p:ph type="subTitle" idx="2"/>`, at(0, 600_000), p("", "d")) +
				sp("", at(0, 700_000), `<a:lstStyle><a:lvl1pPr><a:buBlip/></a:lvl1pPr></a:lstStyle>`+p("", "e")),
			"- a\n    - b\n\nc\n\nd\n\n- e\n",
		},
		{
			"numbers", sp("", at(0, 0), p(number("arabicPeriod", ""), "a")+
				p(strings.Replace(number("alphaLcParenR", ""), "<a:pPr", `<a:pPr lvl="1"`, 1), "x")+
				p(number("arabicPeriod", ""), "b")+p("", "text")+p(number("romanUcPeriod", ` startAt="4"`), "c")),
			"1. a\n    - a) x\n2. b\n\ntext\n\n- IV. c\n",
		},
		{"groups in coordinates of their own", `<p:grpSp><p:grpSpPr><a:xfrm>` + at(0, 500_000) +
			`<a:chOff x="0" y="0"/><a:chExt cx="10" cy="10"/></a:xfrm></p:grpSpPr>` +
			sp("", `<a:off x="5" y="0"/><a:ext cx="1" cy="1"/>`, p("", "c")) +
			sp("", `<a:off x="0" y="0"/><a:ext cx="1" cy="1"/>`, p("", "b")) + `</p:grpSp>` +
			sp("", at(0, 300_000), p("", "a")), "a\n\nb\n\nc\n"},
		{"hidden shapes", strings.Replace(sp("", at(0, 0), p("", "x")), "<p:cNvPr", `<p:cNvPr hidden="1"`, 1), ""},
		{"numbers of slides and dates, a footer once", sp(`<p:ph type="sldNum" idx="9"/>`, at(0, 0), p("", "7")) +
			sp(`<p:ph type="dt" idx="8"/>`, at(0, 0), p("", "May")) +
			sp(`<p:ph type="ftr" idx="7"/>`, at(0, 0), p("", "Internal")) +
			sp(`<p:ph type="ftr" idx="7"/>`, at(0, 0), p("", "Internal")), "Internal\n"},
		{"fields, breaks, formulas", sp("", at(0, 0),
			`<a:p><a:fld type="slidenum"><a:t>3</a:t></a:fld><a:fld type="datetime"><a:t>May</a:t></a:fld><a:br/><mc:AlternateContent><mc:Choice><m><oMath><f><num><r><t>a</t></r></num><den><r><t>b</t></r></den></f></oMath></m></mc:Choice><mc:Fallback><a:r><a:t>no</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>`), "May  \na/b\n"},
		{"alternatives once", `<mc:AlternateContent><mc:Choice>` + sp("", at(0, 0), p("", "x")) +
			`</mc:Choice><mc:Fallback>` + sp("", at(0, 0), p("", "y")) + `</mc:Fallback></mc:AlternateContent>`, "x\n"},
		{
			"symbol fonts", sp("", at(0, 0), `<a:p>`+fontRun(`<a:sym typeface="Wingdings"/>`, "à \uF0E0 b ")+
				fontRun(`<a:latin typeface="Symbol"/>`, "a")+`</a:p>`), "à → b α\n",
		},
		{
			"a table with spans", frame(`<a:tbl><a:tblPr firstRow="1"/><a:tr>` + tc(` gridSpan="2"`, "h") +
				tc(` hMerge="1"`, "no") + tc("", "i") + `</a:tr><a:tr>` + tc(` rowSpan="2"`, "v") + tc("", "a") +
				tc("", "b") + `</a:tr><a:tr>` + tc(` vMerge="1"`, "no") + tc("", "c") + tc("", "") + `</a:tr></a:tbl>`),
			"| h | h | i |\n| - | - | - |\n| v | a | b |\n| v | c |  |\n",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, pptx.New(), extract.PPTX, deck(t, []string{tt.slide})); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestBox: a block's box follows from its shape, through nested groups.
func TestBox(t *testing.T) {
	t.Parallel()
	group := func(inner string) string {
		return `<p:grpSp><p:grpSpPr><a:xfrm><a:off x="500000" y="500000"/><a:ext cx="200000" cy="200000"/><a:chOff x="0" y="0"/><a:chExt cx="400000" cy="400000"/></a:xfrm></p:grpSpPr>` + inner + `</p:grpSp>`
	}
	doc, err := nativetest.Extract(t, pptx.New(), extract.PPTX, deck(t, []string{
		group(sp("", at(200_000, 0), p("", "x"))) + sp("", at(0, 2_000_000), p("", "outside")),
	}), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []extract.Block{
		{Kind: extract.Paragraph, Text: "x", Page: 1, Box: &extract.Box{
			Left: 0.6, Top: 0.5, Right: 0.65,
			Bottom: 0.55,
		}},
		{Kind: extract.Paragraph, Text: "outside", Page: 1},
	}
	if !reflect.DeepEqual(doc.Blocks, want) {
		t.Errorf("got %+v", doc.Blocks)
	}
}

// TestPresentation: slides in presentation order, with notes and comments.
func TestPresentation(t *testing.T) {
	t.Parallel()
	first := sp(`<p:ph type="ctrTitle"/>`, at(0, 0), p("", "First")) + frame(`<c:chart r:id="r1"/>`) +
		frame(`<dgm:relIds r:dm="r2"/>`)
	doc, err := nativetest.Extract(t, pptx.New(), extract.PPTX, deck(t, []string{first, ""},
		"ppt/slides/slide1.xml", `<p:sld show="0"`+namespaces+`><p:cSld><p:spTree>`+sp("", at(0, 0), p("", "hidden"))+
			`</p:spTree></p:cSld></p:sld>`,
		"ppt/slides/_rels/slide2.xml.rels", nativetest.Relations("slideLayout", "../slideLayouts/l.xml", "chart",
			"/ppt/charts/c.xml", "diagramData", "../diagrams/d.xml", "notesSlide", "../notes/n.xml", "comments",
			"../comments/c.xml", "image", "../media/none.png"),
		"ppt/charts/c.xml", `<c:chartSpace`+namespaces+
			`><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Ducks</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:bar3DChart><c:ser><c:tx><c:strRef><c:f>A!1</c:f><c:strCache><c:pt idx="0"><c:v>Wild</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:numRef><c:numCache><c:formatCode>yyyy\-mm</c:formatCode><c:pt idx="0"><c:v>45292</c:v></c:pt><c:pt idx="2"><c:v>45323</c:v></c:pt></c:numCache></c:numRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt idx="2"><c:v>7.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:bar3DChart><c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Axis</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>`,
		"ppt/diagrams/d.xml", `<dgm:dataModel`+namespaces+
			`><dgm:ptLst><dgm:pt modelId="0" type="doc"/><dgm:pt modelId="1"><dgm:t>`+p("", "second")+
			`</dgm:t></dgm:pt><dgm:pt modelId="2"><dgm:t>`+p("", "first")+
			`</dgm:t></dgm:pt><dgm:pt modelId="3"><dgm:t>`+p("", "below")+
			`</dgm:t></dgm:pt><dgm:pt modelId="4" type="pres"><dgm:t>`+p("", "no")+
			`</dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId="0" destId="1" srcOrd="1"/><dgm:cxn srcId="0" destId="2" srcOrd="0"/><dgm:cxn srcId="2" destId="3" srcOrd="0"/><dgm:cxn srcId="3" destId="2" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>`,
		"ppt/notes/n.xml", `<p:notes`+namespaces+`><p:cSld><p:spTree>`+sp(`<p:ph type="sldImg"/>`, "", "")+
			sp(`<p:ph type="body" idx="1"/>`, "", p("", "Say")+p("", "hello"))+
			sp(`<p:ph type="sldNum" idx="2"/>`, "", p("", "1"))+`</p:spTree></p:cSld></p:notes>`,
		"ppt/comments/c.xml", `<p:cmLst`+namespaces+
			`><p:cm authorId="0" dt="2026-01-01"><p:text>Why?</p:text></p:cm><p:cm authorId="9" created="2026-01-02"><p:replyLst><p:reply authorId="0"><p:txBody>`+p("", "Because")+`</p:txBody></p:reply></p:replyLst><p:txBody>`+p("", "And")+`</p:txBody></p:cm></p:cmLst>`,
		"ppt/commentAuthors.xml", `<p:cmAuthorLst`+namespaces+
			`><p:cmAuthor id="0" name="Ada" initials="A"/></p:cmAuthorLst>`,
	), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	want := `# First

Ducks

Bar chart (Axis)

<!-- image -->

|  | Wild |
| - | - |
| 2024-01-01 |  |
| 2024-02-01 | 7.5 |

- first
    - below
- second

Notes: Say  
hello

\[author: Ada (A), time: 2026-01-01\]: Why?

\[time: 2026-01-02\]: And

\[author: Ada (A)\]: Because

hidden
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	last := doc.Blocks[len(doc.Blocks)-1]
	if doc.Title != "First" || doc.Language != "de-DE" || doc.Pages != 2 || doc.Properties["hidden_slides"] != "2" ||
		last.Page != 2 {
		t.Errorf("got %+v, the last block on page %d", doc.Info, last.Page)
	}
}

func FuzzSlide(f *testing.F) {
	f.Add(sp(`<p:ph type="title"/>`, at(0, 0), p("", "T")) +
		sp(`<p:ph idx="1"/>`, "", p(`<a:pPr lvl="1"><a:buAutoNum type="alphaLcParenBoth" startAt="3"/></a:pPr>`, "x")))
	f.Add(frame(`<a:tbl><a:tr>` + tc(` gridSpan="2" rowSpan="2"`, "h") + `</a:tr><a:tr>` + tc(` vMerge="1"`, "") +
		`</a:tr></a:tbl>`))
	f.Add(`<p:grpSp><p:grpSpPr><a:xfrm>` + at(1, 2) +
		`<a:chOff x="0" y="0"/><a:chExt cx="1" cy="1"/></a:xfrm></p:grpSpPr>` + sp("", at(3, 4), p("", "y")) +
		`</p:grpSp>`)
	f.Fuzz(func(t *testing.T, slide string) {
		nativetest.Fuzz(t, pptx.New(), extract.PPTX, deck(t, []string{slide}))
	})
}

func FuzzFile(f *testing.F) {
	f.Add(deck(f, []string{sp("", at(0, 0), p("", "x"))}))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, pptx.New(), extract.PPTX, file) })
}
