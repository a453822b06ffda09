package docx_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// scattered returns rows of a cell with a text and 1000 empty ones. They are compressed to more than a 200th, which is the
// limit of imported files.
func scattered(rows int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range rows {
		b.WriteString(`<w:tr>` + tc("", p("", "x")))
		for range 20 {
			fmt.Fprintf(&b, `<w:tc w:id="%x"/>`, random.Uint64())
			b.WriteString(strings.Repeat(`<w:tc/>`, 49))
		}
		b.WriteString(`</w:tr>`)
	}
	return b.String()
}

// TestHeld: a small file can't hold any number of cells and blocks in memory, even of empty ones.
func TestHeld(t *testing.T) {
	t.Parallel()
	limits := extract.Limits{ZipRatio: 1 << 20}
	table := func(rows string) string { return `<w:tbl>` + rows + `</w:tbl>` }
	row := func(cells string) string { return `<w:tr>` + cells + `</w:tr>` }
	wide := row(strings.Repeat(`<w:tc/>`, 1000))
	long := table(strings.Repeat(wide, 601))
	box := `<w:p><w:r><w:txbxContent>` + long + `</w:txbxContent></w:r></w:p>`
	series := strings.Repeat(`<c:ser/>`, 700) + `<c:ser><c:val>` + strings.Repeat(`<c:pt><c:v>1</c:v></c:pt>`, 600) + `</c:val></c:ser>`
	chart := `<c:chartSpace><c:lineChart>` + series + `</c:lineChart></c:chartSpace>`
	for _, tt := range []struct {
		what    string
		content []byte
	}{
		{"cells of a row", document(t, table(row(strings.Repeat(`<w:tc/>`, 600_001))))},
		{"cells before a row", document(t, table(row(`<w:trPr>`+strings.Repeat(`<w:gridBefore w:val="63"/>`, 10_000)+`</w:trPr>`)))},
		{"cells of a table in a cell", document(t, table(row(`<w:tc>`+long+`</w:tc><w:tc/>`)))},
		{"cells in a text box", document(t, box)},
		{"paragraphs of a cell", document(t, table(row(`<w:tc>`+strings.Repeat(x, 600_001)+`</w:tc>`)))},
		{"cells of a note", withParts(t, x, "footnotes", "footnotes.xml", `<w:footnotes><w:footnote>`+long+`</w:footnote></w:footnotes>`)},
		{"charts of a paragraph", withParts(t, `<w:p><w:r><w:drawing><c:chart r:id="r0"/><c:chart r:id="r1"/></w:drawing></w:r></w:p>`,
			"chart", "1.xml", chart, "chart", "2.xml", chart)},
		{"an imported table in a cell", withParts(t, table(row(`<w:tc>`+chunk0+`</w:tc><w:tc/>`)), "aFChunk", "part.docx",
			string(document(t, table(scattered(601)))))},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			nativetest.Refuses(t, reader(), extract.DOCX, tt.content, limits, taskerr.QuotaExceeded, "more than 600000 cells")
		})
	}
	if _, err := nativetest.Extract(t, reader(), extract.DOCX, document(t, long+x+long), limits); err != nil {
		t.Errorf("cells of the main text, which are not held: %v", err)
	}
}

// numbered repeats a text that has a %d for the number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestDefinitions: a document can't define any number of things.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	limits := extract.Limits{ZipRatio: 1 << 20}
	nativetest.Refuses(t, docx.New(nil), extract.DOCX, withParts(t, x, "footnotes", "footnotes.xml",
		`<w:footnotes>`+numbered(600_002, `<w:footnote w:id="%d"/>`)+`</w:footnotes>`), limits, taskerr.QuotaExceeded, "600000 notes")
	styled := `<w:style w:type="paragraph" w:styleId="%d"><w:name w:val="heading 1"/></w:style>`
	list := lvl("0", "1", "decimal", "%%1.", "")
	for what, content := range map[string][]byte{
		"styles": withParts(t, p("65535", "a")+p("65536", "b"), "styles", "styles.xml",
			`<w:styles>`+numbered(70_000, styled)+`</w:styles>`),
		"lists": withParts(t, li("1", "0", "a")+li("2", "0", "b"), "numbering", "numbering.xml", `<w:numbering>`+
			numbered(70_000, `<w:abstractNum w:abstractNumId="%d">`+list+`</w:abstractNum>`)+
			`<w:num w:numId="1"><w:abstractNumId w:val="65535"/></w:num>`+
			`<w:num w:numId="2"><w:abstractNumId w:val="65536"/></w:num></w:numbering>`),
		"uses": withParts(t, li("65535", "0", "a")+li("65536", "0", "b"), "numbering", "numbering.xml", `<w:numbering>`+
			`<w:abstractNum w:abstractNumId="0">`+numbered(1, list)+`</w:abstractNum>`+
			numbered(70_000, `<w:num w:numId="%d"><w:abstractNumId w:val="0"/></w:num>`)+`</w:numbering>`),
	} {
		doc, err := nativetest.Extract(t, docx.New(nil), extract.DOCX, content, limits)
		if err != nil || len(doc.Blocks) != 2 || doc.Blocks[0].Kind == extract.Paragraph || doc.Blocks[1].Kind != extract.Paragraph {
			t.Errorf("%s: got %+v, %v", what, doc, err)
		}
	}
}

// TestLevelsOfCategories: a text of an outer level, which each inner category of a chart repeats, counts as text that is held.
func TestLevelsOfCategories(t *testing.T) {
	t.Parallel()
	levels := `<c:lvl>` + numbered(6000, `<c:pt idx="%d"><c:v>x</c:v></c:pt>`) + `</c:lvl>` +
		`<c:lvl><c:pt idx="0"><c:v>` + strings.Repeat("y", 32<<10) + `</c:v></c:pt></c:lvl>`
	chart := `<c:chartSpace><c:barChart><c:ser><c:cat>` + levels + `</c:cat></c:ser></c:barChart></c:chartSpace>`
	content := withParts(t, `<w:p><w:r><w:drawing><c:chart r:id="r0"/></w:drawing></w:r></w:p>`, "chart", "1.xml", chart)
	nativetest.CountsHeldText(t, docx.New(nil), content)
}
