package xlsx_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xlsx"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	namespaces = ` xmlns="s" xmlns:a="a" xmlns:c="c" xmlns:xdr="x" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
)

// workbook makes a workbook of the list of sheets, the first sheet's content, and further parts, given as pairs
// of name and content.
func workbook(t testing.TB, sheets, first string, parts ...string) []byte {
	t.Helper()
	add := func(name, content string) {
		if !slices.Contains(parts, name) {
			parts = append(parts, name, content)
		}
	}
	add("xl/workbook.xml", `<workbook`+namespaces+`><workbookPr/><sheets>`+sheets+`</sheets></workbook>`)
	add("xl/_rels/workbook.xml.rels", nativetest.Relations("worksheet", "worksheets/sheet1.xml", "worksheet",
		"worksheets/sheet2.xml", "sharedStrings", "sharedStrings.xml", "styles", "styles.xml", "person",
		"persons/p.xml"))
	add("xl/worksheets/sheet1.xml", `<worksheet`+namespaces+`><dimension ref="A1:XFD1048576"/>`+first+`</worksheet>`)
	add("xl/worksheets/sheet2.xml", `<worksheet`+namespaces+`>`+data(line("1", "second"))+`</worksheet>`)
	add("xl/sharedStrings.xml", `<sst`+namespaces+
		`><si><t>plain</t></si><si><r><t>ri</t></r><r><t>ch_x000D__x0041_</t></r><rPh><t>no</t></rPh></si></sst>`)
	add("xl/styles.xml", `<styleSheet`+namespaces+
		`><numFmts><numFmt numFmtId="164" formatCode="d/m/yy\ h:mm"/><numFmt numFmtId="165" formatCode="00000"/><numFmt numFmtId="166" formatCode="#,##0.00\ &quot;€&quot;"/><numFmt numFmtId="167" formatCode="&quot;FY&quot;0"/><numFmt numFmtId="168" formatCode="00&quot; kg&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="46"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/><xf numFmtId="168"/></cellXfs></styleSheet>`)
	return nativetest.Zip(t, parts...)
}

const oneSheet = `<sheet name="Sheet1" r:id="r0"/>`

func data(rows ...string) string { return "<sheetData>" + strings.Join(rows, "") + "</sheetData>" }

// line is a row of texts from column A; numeric texts are numbers, "" is not a cell.
func line(number string, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		ref := ""
		if number != "" {
			ref = ` r="` + string(rune('A'+i)) + number + `"`
		}
		switch {
		case text == "":
		case strings.Trim(text, "0123456789.") == "":
			b.WriteString("<c" + ref + "><v>" + text + "</v></c>")
		default:
			b.WriteString("<c" + ref + ` t="inlineStr"><is><t>` + text + "</t></is></c>")
		}
	}
	if number != "" {
		number = ` r="` + number + `"`
	}
	return "<row" + number + ">" + b.String() + "</row>"
}

func merged(refs ...string) string {
	var b strings.Builder
	for _, ref := range refs {
		b.WriteString(`<mergeCell ref="` + ref + `"/>`)
	}
	return "<mergeCells>" + b.String() + "</mergeCells>"
}

func TestSheet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, sheet, want string }{
		{"kinds of cells", data(`<row r="1"><c r="A1" t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c><c t="str"><f>A1&amp;B1</f><v>joined</v></c><c t="d"><v>2024-05-06T00:00:00</v></c><c t="s"><v>99</v></c></row>`), "| plain | rich A | TRUE | FALSE | #DIV/0! | joined | 2024-05-06 |\n| - | - | - | - | - | - | - |\n"},
		{"number formats", data(`<row r="1"><c s="1"><v>45292</v></c><c s="2"><v>0.07</v></c><c s="3"><v>45292.5</v></c><c s="4"><v>1.5</v></c><c s="0"><v>0.30000000000000004</v></c><c s="77"><v>1E3</v></c><c><f>SUM(A1)</f></c></row>`), "| 2024-01-01 | 7% | 2024-01-01 12:00:00 | 36:00:00 | 0.3 | 1000 |\n| - | - | - | - | - | - |\n"},
		{"zeros in front", data(`<row r="1"><c t="inlineStr"><is><t>ZIP</t></is></c></row><row r="2"><c s="5"><v>1234</v></c></row>`), "| ZIP |\n| - |\n| 01234 |\n"},
		{"units", data(`<row r="1"><c t="inlineStr"><is><t>Price</t></is></c></row><row r="2"><c s="6"><v>1234.5</v></c></row><row r="3"><c s="6" t="str"><v>7</v></c></row>`), "| Price |\n| - |\n| 1234.5 € |\n| 7 |\n"},
		{"zeros and a unit", data(`<row r="1"><c t="inlineStr"><is><t>Load</t></is></c></row><row r="2"><c s="8"><v>7</v></c></row><row r="3"><c s="8"><v>7.5</v></c></row><row r="4"><c s="8"><v>120</v></c></row>`), "| Load |\n| - |\n| 07 kg |\n| 7.5 kg |\n| 120 kg |\n"},
		{"no references", data(line("", "a", "b"), line("", "1", "2")), "| a | b |\n| - | - |\n| 1 | 2 |\n"},
		{
			"regions apart", data(line("1", "a", "b", "", "x"), line("2", "1", "2", "", "y"), line("4", "", "c")),
			"| a | b |\n| - | - |\n| 1 | 2 |\n\n| x |\n| - |\n| y |\n\nc\n",
		},
		{
			"a gap within a table", data(line("1", "a", "b", "c"), line("2", "1"), line("3", "2", "", "3")),
			"| a | b | c |\n| - | - | - |\n| 1 |  |  |\n| 2 |  | 3 |\n",
		},
		{
			"regions that meet below", data(line("1", "a", "", "b"), line("2", "1", "", "2"), line("3", "3", "4", "5")),
			"| a |  | b |\n| - | - | - |\n| 1 |  | 2 |\n| 3 | 4 | 5 |\n",
		},
		{
			"a title over a table", data(line("1", "Ducks"), line("2", "Year", "Count"), line("3", "2024", "7")),
			"Ducks\n\n| Year | Count |\n| - | - |\n| 2024 | 7 |\n",
		},
		{"a merged title", data(line("1", "Ducks"), line("2", "Year", "Count"), line("3", "2024", "7")) +
			merged("A1:B1"), "Ducks\n\n| Year | Count |\n| - | - |\n| 2024 | 7 |\n"},
		{"a column is not a title", data(line("1", "a"), line("2", "b"), line("3", "c")), "| a |\n| - |\n| b |\n| c |\n"},
		{"merged cells", data(line("1", "h", "no", "i"), line("2", "v", "a", "b"), line("3", "no", "c", "d")) +
			merged("A1:B1", "A2:A3", "Z9", "C9:A1"), "| h | h | i |\n| - | - | - |\n| v | a | b |\n| v | c | d |\n"},
		{
			"a merged cell joins", data(line("1", "m"), line("3", "", "b")) + merged("A1:A3"),
			"| m |  |\n| - | - |\n| m | b |\n",
		},
		{
			"odd references", data(`<row r="2">` +
				`<c r="zz!" t="inlineStr"><is><t>a</t></is></c></row><row r="1"><c r="A1"><v>1</v></c></row>`),
			"| a |\n| - |\n| 1 |\n",
		},
		{"hidden rows", data(`<row r="1" hidden="1"><c><v>1</v></c><c><v>2</v></c></row>`), "| 1 | 2 |\n| - | - |\n"},
		{"far apart", data(`<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row><row r="1048576"><c r="A1048576"><v>3</v></c></row>`), "1\n\n2\n\n3\n"},
		{"nothing", data(), ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, xlsx.New(), extract.XLSX,
				workbook(t, oneSheet, tt.sheet)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestHeaders: the years or months of amounts are a header, those of a series or of data are none.
func TestHeaders(t *testing.T) {
	t.Parallel()
	months := func(first string, months ...string) string {
		return strings.ReplaceAll(line("1", append([]string{first}, months...)...), "><v>4", ` s="1"><v>4`)
	}
	for what, tt := range map[string]struct {
		rows []string
		want int
	}{
		"names":              {[]string{line("1", "Port", "Sum"), line("2", "Bergen", "7")}, 1},
		"years":              {[]string{line("1", "Port", "2021", "2022"), line("2", "Bergen", "5", "7")}, 1},
		"months":             {[]string{months("Port", "45292", "45323"), line("2", "Bergen", "5", "7")}, 1},
		"years at the right": {[]string{line("1", "", "2021", "2022"), line("2", "Bergen", "5", "7")}, 1},
		"numbers":            {[]string{line("1", "Port", "45292", "45323"), line("2", "Bergen", "5", "7")}, 0},
		"a series":           {[]string{line("1", "2021", "2022", "2023"), line("2", "2022", "5", "7")}, 0},
		"a series by months": {[]string{months("45261", "45292", "45323"), line("2", "Bergen", "5", "7")}, 0},
		"years of people":    {[]string{line("1", "Ada", "1950", "2001"), line("2", "Bob", "1948", "1999")}, 0},
	} {
		doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX, workbook(t, oneSheet, data(tt.rows...)), extract.Limits{})
		if err != nil || doc.Blocks[0].Table.Headers != tt.want {
			t.Errorf("%s: got %+v, %v; want %d header rows", what, doc.Blocks[0].Table, err, tt.want)
		}
	}
}

// TestWorkbook: sheets in workbook order, with charts and comments.
// TestHeadersWithUnits: years are a header whatever their format shows beside them.
func TestHeadersWithUnits(t *testing.T) {
	t.Parallel()
	year := func(n string) string { return `<c s="7"><v>` + n + `</v></c>` }
	sheet := data(`<row r="1"><c t="inlineStr"><is><t>Metric</t></is></c>`+year("2023")+year("2024")+`</row>`,
		line("2", "Sales", "1", "2"), line("3", "Costs", "3", "4"))
	doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX, workbook(t, oneSheet, sheet), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b := doc.Blocks[len(doc.Blocks)-1]
	if b.Table == nil || b.Table.Headers != 1 || b.Table.Rows[0][1].Text != "FY2023" {
		t.Errorf("%+v", b)
	}
}

func TestWorkbook(t *testing.T) {
	t.Parallel()
	anchor := func(row, what string) string {
		return `<xdr:twoCellAnchor><xdr:from><xdr:row>` + row +
			`</xdr:row></xdr:from><xdr:to><xdr:row>99</xdr:row></xdr:to>` + what + `</xdr:twoCellAnchor>`
	}
	doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX, workbook(t,
		`<sheet name="Two" r:id="r1"/><sheet name="Secret" state="veryHidden" r:id="r9"/><sheet name="One" r:id="r0"/>`,
		data(line("1", "a"), line("5", "b")),
		"xl/worksheets/_rels/sheet1.xml.rels", nativetest.Relations("drawing", "../drawings/d.xml", "comments",
			"../comments1.xml", "threadedComment", "../threads/t.xml"),
		"xl/drawings/d.xml", `<xdr:wsDr`+namespaces+`>`+anchor("9",
			`<xdr:sp><xdr:txBody><a:p><a:r><a:t>box</a:t></a:r></a:p></xdr:txBody></xdr:sp>`)+
			anchor("2", `<c:chart r:id="r0"/>`)+anchor("20", `<dgm:relIds r:dm="r1"/>`)+anchor("30", `<c:chart r:id="r0"/>`)+
			`</xdr:wsDr>`,
		"xl/drawings/_rels/d.xml.rels", nativetest.Relations("chart", "../charts/c.xml", "diagramData", "../diagrams/d.xml"),
		"xl/diagrams/d.xml", `<dgm:dataModel`+namespaces+` xmlns:dgm="d"><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Plan</a:t>`+
			`</a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>`,
		"xl/charts/c.xml", `<c:chartSpace`+namespaces+
			`><c:pieChart><c:ser><c:tx><c:v>S</c:v></c:tx><c:val><c:numLit><c:pt idx="0"><c:v>7</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart></c:chartSpace>`,
		"xl/comments1.xml", `<comments`+namespaces+
			`><authors><author>Ada</author><author>tc={1}</author></authors><commentList><comment ref="A1" authorId="0"><text><r><t>Why?</t></r></text></comment><comment ref="A5" authorId="1"><text><t>[Threaded comment] no</t></text></comment></commentList></comments>`,
		"xl/threads/t.xml", `<ThreadedComments`+namespaces+
			`><threadedComment ref="A5" dT="2026-01-01T00:00:00" personId="p"><text>Because</text></threadedComment></ThreadedComments>`,
		"xl/persons/p.xml", `<personList`+namespaces+`><person id="p" displayName="Bob"/></personList>`,
	), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	want := "## Two\n\nsecond\n\n## One\n\na\n\nPie chart\n\n<!-- image -->\n\n|  | S |\n| - | - |\n|  | 7 " +
		"|\n\nb\n\nbox\n\n- Plan\n\n" +
		"\\[author: Ada\\]: Why?\n\n\\[author: Bob, time: 2026-01-01T00:00:00\\]: Because\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	if last := doc.Blocks[len(doc.Blocks)-1]; doc.Pages != 3 || last.Page != 3 ||
		doc.Properties["hidden_sheets"] != "Secret" {
		t.Errorf("got %+v, the last block on page %d", doc.Info, last.Page)
	}
}

// TestEpoch1904: old Mac workbooks count days from 1904.
func TestEpoch1904(t *testing.T) {
	t.Parallel()
	content := workbook(t, "", data(`<row><c s="1"><v>1</v></c></row>`), "xl/workbook.xml",
		`<workbook`+namespaces+`><workbookPr date1904="1"/><sheets>`+oneSheet+`</sheets></workbook>`)
	if got := nativetest.Markdown(t, xlsx.New(), extract.XLSX, content); got != "1904-01-02\n" {
		t.Errorf("got %q", got)
	}
}

// TestLongSheet: a long sheet takes little memory and is emitted in slices under one header; a table beside it
// follows.
func TestLongSheet(t *testing.T) {
	t.Parallel()
	const rows = 70_000 // more than 16 bits count
	path := filepath.Join(t.TempDir(), "file")
	var b strings.Builder
	b.WriteString(line("1", "name", "value", "", "beside"))
	for i := 2; i <= rows; i++ {
		b.WriteString(line(fmt.Sprint(i), "row", fmt.Sprint(i)))
	}
	if err := os.WriteFile(path, workbook(t, oneSheet, data(b.String())), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	seen, texts, peak := 0, "", uint64(0)
	_, err := xlsx.New().Extract(t.Context(), extract.Source{Path: path}, extract.Limits{},
		func(block extract.Block) error {
			texts += block.Text
			if block.Table == nil {
				return nil
			}
			if block.Table.Headers != 1 || block.Table.Continued != (seen > 0) || len(block.Table.Rows) > 600 {
				t.Fatalf("after %d rows: %d headers, continued %v, %d rows", seen, block.Table.Headers,
					block.Table.Continued, len(block.Table.Rows))
			}
			if seen += len(block.Table.Rows) - 1; seen%30_000 < 500 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			return nil
		})
	if err != nil || seen != rows-1 || texts != "beside" {
		t.Errorf("%d rows, %q, %v", seen, texts, err)
	}
	t.Logf("heap of at most %d MB", peak>>20)
}

// TestStreams: rows are emitted before the sheet was read to its end.
func TestStreams(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, workbook(t, oneSheet, "<sheetData>"+strings.Repeat(line("", "a", "b"), 120_000)+
		"<row>"), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks := 0
	_, err := xlsx.New().Extract(t.Context(), extract.Source{Path: path}, extract.Limits{ZipRatio: 1 << 20},
		func(extract.Block) error {
			blocks++
			return nil
		})
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.CorruptionDetected || blocks == 0 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
}
