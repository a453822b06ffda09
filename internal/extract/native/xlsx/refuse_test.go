package xlsx_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xlsx"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestRefuses(t *testing.T) {
	t.Parallel()
	whole := workbook(t, oneSheet, data(line("1", "0123456789")))
	wide := strings.Repeat("<c><v>1</v></c>", 16_384)
	nativetest.RefusesAll(t, xlsx.New(), extract.XLSX, []nativetest.Refusal{
		{
			What: "no main part", Content: nativetest.Zip(t, "xl/x.xml", "<x/>"), Class: taskerr.CorruptionDetected,
			Message: "no main part",
		},
		{
			What: "binary", Content: nativetest.Zip(t, "xl/workbook.bin", "", "_rels/.rels",
				nativetest.Relations("officeDocument", "xl/workbook.bin")), Class: taskerr.UnsupportedFormat,
			Message: "save it as XLSX",
		},
		{
			What: "a sheet is missing", Content: workbook(t, `<sheet name="a" r:id="r7"/>`, ""),
			Class: taskerr.CorruptionDetected, Message: "sheet 1 is missing",
		},
		{What: "truncated", Content: whole[:len(whole)/2], Class: taskerr.CorruptionDetected, Message: "damaged"},
		{
			What: "XML cut off", Content: workbook(t, oneSheet, "<sheetData><row>"), Class: taskerr.CorruptionDetected,
			Message: "XML",
		},
		{
			What: "deep XML", Content: workbook(t, oneSheet, strings.Repeat("<x>", 10_000)),
			Class: taskerr.CorruptionDetected, Message: "nested deeper than 256",
		},
		{
			What: "too many sheets", Content: workbook(t, strings.Repeat(oneSheet, 20), data()),
			Limits: extract.Limits{Pages: 10}, Class: taskerr.QuotaExceeded, Message: "more than 10 sheets",
		},
		{
			What: "too many columns", Content: workbook(t, oneSheet, data("<row>"+wide+"<c/></row>")),
			Limits: extract.Limits{ZipRatio: 1 << 20}, Class: taskerr.CorruptionDetected,
			Message: "more than 16384 columns",
		},
		{
			What: "too much text", Content: workbook(t, oneSheet, data(strings.Repeat(line("", "0123456789"), 20))),
			Limits: extract.Limits{Characters: 100}, Class: taskerr.QuotaExceeded, Message: "100 characters",
		},
		{
			What: "too many shared strings", Content: workbook(t, oneSheet, data(), "xl/sharedStrings.xml",
				"<sst>"+strings.Repeat("<si/>", 1000)+"</sst>"), Limits: extract.Limits{Characters: 100},
			Class: taskerr.QuotaExceeded, Message: "MB of text",
		},
		{
			What: "mostly holes", Content: workbook(t, oneSheet,
				data("<row>"+wide+"</row>", strings.Repeat("<row><c r=\"XFD1\"><v>1</v></c></row>", 50))),
			Limits: extract.Limits{Characters: 100_000, ZipRatio: 1 << 20}, Class: taskerr.QuotaExceeded,
			Message: "empty places",
		},
		{
			What: "a merged cell over everything", Content: workbook(t, oneSheet,
				data(line("1", strings.Repeat("x", 100)), strings.Repeat(`<row><c r="B2"><v>1</v></c></row>`, 50))+
					merged("A1:A1048576")), Limits: extract.Limits{Characters: 3000}, Class: taskerr.QuotaExceeded,
			Message: "empty places",
		},
	})
}

// TestLongText: a text of more than a megabyte, in one piece or in runs, is read from its start, which the result says.
func TestLongText(t *testing.T) {
	t.Parallel()
	piece := strings.Repeat("0123456789", 1000)
	for what, tt := range map[string]struct {
		text string
		cut  bool
	}{
		"in one piece": {"<t>" + strings.Repeat(piece, 150) + "</t>", true},
		"in runs":      {strings.Repeat("<r><t>"+piece+"</t></r>", 150) + "<r><t>end</t></r>", true},
		"short enough": {"<t>" + strings.Repeat(piece, 100) + "</t>", false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			doc, err := nativetest.Extract(t, xlsx.New(), extract.XLSX,
				workbook(t, oneSheet, data(`<row><c t="inlineStr"><is>`+tt.text+"</is></c></row>")), extract.Limits{ZipRatio: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			text := doc.Blocks[len(doc.Blocks)-1].Text
			if whole := strings.Repeat(piece, 110); !strings.HasPrefix(whole, text) || len(text) < 1_000_000 ||
				(len(doc.Warnings) > 0) != tt.cut {
				t.Errorf("%d characters, %q", len(text), doc.Warnings)
			}
		})
	}
}

// TestNamesAreCharged: the people who comment count with their ids, and sheets with their names.
func TestNamesAreCharged(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, xlsx.New(), workbook(t, oneSheet, data(),
		"xl/persons/p.xml", `<personList`+namespaces+`><person id="`+strings.Repeat("x", 1000)+`"/></personList>`))
	nativetest.CountsHeldText(t, xlsx.New(), workbook(t,
		`<sheet name="`+strings.Repeat("x", 1000)+`" state="hidden" r:id="r0"/>`+oneSheet, data()))
}

// TestChartIsCharged: the text of a chart counts before it is emitted.
func TestChartIsCharged(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, xlsx.New(), workbook(t, oneSheet, data(),
		"xl/worksheets/_rels/sheet1.xml.rels", nativetest.Relations("drawing", "../drawings/d.xml"),
		"xl/drawings/d.xml", `<xdr:wsDr`+namespaces+`><xdr:twoCellAnchor><c:chart r:id="r0"/></xdr:twoCellAnchor></xdr:wsDr>`,
		"xl/drawings/_rels/d.xml.rels", nativetest.Relations("chart", "../charts/c.xml"),
		"xl/charts/c.xml", `<c:chartSpace`+namespaces+`><c:pieChart><c:ser><c:val><c:pt idx="0"><c:v>`+
			strings.Repeat("x", 1000)+`</c:v></c:pt></c:val></c:ser></c:pieChart></c:chartSpace>`))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	nativetest.Stops(t, xlsx.New(), workbook(t, oneSheet, data(strings.Repeat(line("", "a", "b"), 1000))))
}

func FuzzSheet(f *testing.F) {
	f.Add(data(line("1", "Title"), line("2", "a", "b", "", "c"), line("3", "1", "2")) + merged("A1:B1", "A2:A3"))
	f.Add(data(`<row r="9"><c r="C9" t="s" s="1"><v>1</v></c><c t="b"><v>1</v></c><c s="3"><v>45292.5</v></c></row>`))
	f.Fuzz(func(t *testing.T, sheet string) {
		nativetest.Fuzz(t, xlsx.New(), extract.XLSX, workbook(t, oneSheet, sheet))
	})
}

func FuzzFile(f *testing.F) {
	f.Add(workbook(f, oneSheet, data(line("1", "x"))))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, xlsx.New(), extract.XLSX, file) })
}
