package docx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const officeNS = ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// withParts makes a Word file of a body that refers to parts by r0, r1, … The parts are given as type, name, content.
func withParts(t testing.TB, body string, parts ...string) []byte {
	t.Helper()
	var relations, files []string
	for i := 0; i < len(parts); i += 3 {
		relations = append(relations, parts[i], parts[i+1])
		files = append(files, "word/"+parts[i+1], parts[i+2])
	}
	files = append(files, "word/document.xml", `<w:document`+namespaces+officeNS+`><w:body>`+body+
		`</w:body></w:document>`, "word/_rels/document.xml.rels", nativetest.Relations(relations...))
	return nativetest.Zip(t, files...)
}

// reader reads Word documents as the worker does.
func reader() extract.Extractor { return native.Extractors(nil, nil)[extract.DOCX] }

const chunk0, x = `<w:altChunk r:id="r0"/>`, `<w:p><w:r><w:t>x</w:t></w:r></w:p>`

func TestParts(t *testing.T) {
	t.Parallel()
	drawing := func(content string) string {
		return `<w:p><w:r><w:t>Here</w:t><w:drawing>` + content + `</w:drawing></w:r></w:p>`
	}
	comment := func(id, author, text string) string {
		return `<w:comment w:id="` + id + `" w:author="` + author + `" w:date="2024-05-06T07:08:09Z"><w:p><w:r><w:t>` + text +
			`</w:t></w:r></w:p></w:comment>`
	}
	for _, tt := range []struct {
		what, body string
		parts      []string
		want       string
	}{
		{
			"a chart", drawing(`<c:chart r:id="r0"/>`) + x,
			[]string{"chart", "charts/chart1.xml", `<c:chartSpace><c:chart><c:title><a:t>Berths</a:t></c:title><c:plotArea>` +
				`<c:barChart><c:ser><c:tx><c:v>Sail</c:v></c:tx><c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat>` +
				`<c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser></c:barChart><c:catAx><c:title><a:t>Month</a:t>` +
				`</c:title></c:catAx><c:valAx><c:title><a:t>Boats</a:t></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>`},
			"Here\n\nBerths\n\nBar chart (Boats)\n\n<!-- image -->\n\n| Month | Sail |\n| - | - |\n| May | 7 |\n\nx\n",
		},
		{
			"SmartArt", drawing(`<dgm:relIds r:dm="r0"/>`),
			[]string{"diagramData", "diagrams/data1.xml", `<dgm:dataModel><dgm:ptLst><dgm:pt modelId="1" type="doc"/>` +
				`<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Second</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt modelId="3"><dgm:t>` +
				`<a:p><a:r><a:t>First</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt modelId="4" type="pres"><dgm:t><a:p><a:r>` +
				`<a:t>no</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId="1" destId="2" srcOrd="1"/>` +
				`<dgm:cxn srcId="1" destId="3" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>`},
			"Here\n\n- First\n- Second\n",
		},
		{
			"comments and replies", `<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>Text</w:t></w:r><w:commentRangeEnd w:id="0"/>` +
				`<w:r><w:commentReference w:id="0"/></w:r><w:r><w:commentReference w:id="1"/></w:r><w:r><w:t>.</w:t></w:r></w:p>` + x +
				`<w:p><w:r><w:commentReference w:id="0"/></w:r></w:p>`,
			[]string{
				"comments", "comments.xml", `<w:comments>` + comment("0", "Ada", "Really?") + comment("1", "Bo", "Yes.") +
					comment("2", "Cy", "Lost.") + comment("3", "Di", "") + `</w:comments>`,
				"commentsExtended", "commentsExtended.xml", `<w15:commentsEx/>`,
			},
			"Text.\n\n\\[author: Ada, time: 2024-05-06T07:08:09Z\\]: Really?\n\n\\[author: Bo, time: 2024-05-06T07:08:09Z\\]: Yes." +
				"\n\nx\n\n\\[author: Cy, time: 2024-05-06T07:08:09Z\\]: Lost.\n",
		},
		{
			"a comment in a cell", `<w:tbl><w:tr>` + tc("", `<w:p><w:r><w:t>a</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>`) +
				tc("", p("", "b")) + `</w:tr></w:tbl>`,
			[]string{"comments", "comments.xml", `<w:comments><w:comment w:id="0"><w:p><w:r><w:t>On a</w:t></w:r></w:p></w:comment></w:comments>`},
			"| a | b |\n| - | - |\n\nOn a\n",
		},
		{
			"an imported page", x + chunk0 + x,
			[]string{"aFChunk", "part.htm", `<html><body><h2>H</h2><p>t</p></body></html>`},
			"x\n\n## H\n\nt\n\nx\n",
		},
		{
			"an imported page without a root", chunk0,
			[]string{"aFChunk", "part.htm", `<p>t</p><p>u</p>`},
			"t\n\nu\n",
		},
		{
			"an imported Rich Text document", chunk0, []string{"aFChunk", "part.rtf", `{\rtf1\ansi t\par}`}, "t\n",
		},
		{"an imported text", chunk0, []string{"aFChunk", "part.txt", "one two"}, "one two\n"},
		{
			"an imported document", chunk0, []string{"aFChunk", "part.docx", string(document(t, p("berschrift2", "H")))}, "## H\n",
		},
		{
			"an imported web archive", chunk0,
			[]string{"aFChunk", "part.mht", "MIME-Version: 1.0\r\nContent-Type: multipart/related; " +
				"boundary=\"=b\"; type=\"text/html\"\r\n\r\n--=b\r\nContent-Type: text/html; charset=\"iso-8859-1\"\r\n" +
				"Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>caf=E9 =3D</p>\r\n--=b\r\nContent-Type: image/png\r\n\r\nx\r\n--=b--\r\n"},
			"café =\n",
		},
		{
			"an import in a cell", `<w:tbl><w:tr>` + tc("", p("", "a")) + tc("", chunk0) + `</w:tr></w:tbl>`,
			[]string{"aFChunk", "part.htm", `<p>t</p>`},
			"| a | t |\n| - | - |\n",
		},
		{
			"formulas apart", `<w:p><w:r><w:t>sum</w:t></w:r><m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>` +
				`<m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>i</m:t></m:r></m:e></m:nary>` +
				`</m:oMath><w:r><w:t>here</w:t></w:r><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></w:p>`, nil,
			"sum ∑\\_(i=1)^n i here x\n",
		},
		{"a formula between paragraphs", `<m:oMathPara><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></m:oMathPara>`, nil, "x\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, reader(), extract.DOCX, withParts(t, tt.body, tt.parts...)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestImportsAreLimited: what the document imports costs no more than the document itself may.
func TestImportsAreLimited(t *testing.T) {
	t.Parallel()
	warns := func(what string, content []byte, e extract.Extractor, text, warning string) {
		doc, err := nativetest.Extract(t, e, extract.DOCX, content, extract.Limits{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		var got strings.Builder
		for _, b := range doc.Blocks {
			got.WriteString(b.Text)
		}
		if got.String() != text || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], warning) {
			t.Errorf("%s: got %.100q and %q", what, got.String(), doc.Warnings)
		}
	}
	warns("imports in an import", withParts(t, chunk0+x, "aFChunk", "part.docx",
		string(withParts(t, x+chunk0, "aFChunk", "part.htm", "<p>deep</p>"))), reader(), "xx",
		"within such documents")
	warns("a damaged one", withParts(t, chunk0+x, "aFChunk", "part.docx", "PK\x03\x04"), reader(), "x", "damaged")
	warns("another format", withParts(t, chunk0+x, "aFChunk", "part.bin", "\x00\x01\x02\x03"), reader(), "x",
		"an unknown binary format")
	warns("no reader", withParts(t, chunk0+x, "aFChunk", "part.htm", "<p>t</p>"), docx.New(nil), "x", "not read")
	var body strings.Builder
	var parts []string
	for i := range 150 {
		fmt.Fprintf(&body, `<w:altChunk r:id="r%d"/>`, i)
		parts = append(parts, "aFChunk", fmt.Sprintf("part%d.htm", i), "<p>t</p>")
	}
	warns("too many", withParts(t, body.String(), parts...), reader(), strings.Repeat("t", 100), "50 of the")
	warns("a bomb", withParts(t, chunk0+x, "aFChunk", "part.docx",
		string(document(t, "<w:p><w:r><w:t>"+strings.Repeat("a", 8<<20)+"</w:t></w:r></w:p>"))), reader(), "x", "bomb")

	// A paragraph whose mark is deleted ends before what is imported.
	begun := `<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>begun</w:t></w:r></w:p>`
	joined := withParts(t, begun+chunk0+x, "aFChunk", "part.htm", "<p>t</p>")
	if got := nativetest.Markdown(t, reader(), extract.DOCX, joined); got != "begun\n\nt\n\nx\n" {
		t.Errorf("got %q", got)
	}

	// The same part counts once, however often the body refers to it.
	page := withParts(t, strings.Repeat(chunk0, 1000), "aFChunk", "part.htm", "<p>t</p>")
	if got := nativetest.Markdown(t, reader(), extract.DOCX, page); got != "t\n" {
		t.Errorf("got %.100q", got)
	}
	_, err := nativetest.Extract(t, reader(), extract.DOCX, withParts(t, chunk0, "aFChunk", "part.htm",
		"<p>"+strings.Repeat("a ", 1000)+"</p>"), extract.Limits{Characters: 1000})
	if !nativetest.IsClass(err, taskerr.QuotaExceeded) {
		t.Errorf("too much text: %v", err)
	}
}
