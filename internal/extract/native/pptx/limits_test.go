package pptx_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pptx"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestLongTable: a long table is emitted in slices, and no slice cuts a spanning cell.
func TestLongTable(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 1200 {
		if i%3 == 0 {
			body.WriteString("<a:tr>" + tc(` rowSpan="3"`, "m") + tc("", "c") + "</a:tr>")
		} else {
			body.WriteString("<a:tr>" + tc(` vMerge="1"`, "") + tc("", "c") + "</a:tr>")
		}
	}
	doc, err := nativetest.Extract(t, pptx.New(), extract.PPTX,
		deck(t, []string{frame("<a:tbl>" + body.String() + "</a:tbl>")}), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range doc.Blocks {
		for _, row := range b.Table.Grid() {
			if rows++; len(row) != 2 || row[0] != "m" || row[1] != "c" {
				t.Fatalf("row %d is %q", rows, row)
			}
		}
	}
	if rows != 1200 || len(doc.Blocks) < 2 {
		t.Errorf("%d rows in %d slices", rows, len(doc.Blocks))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	text := sp("", at(0, 0), p("", "0123456789"))
	whole := deck(t, []string{text})
	nativetest.RefusesAll(t, pptx.New(), extract.PPTX, []nativetest.Refusal{
		{
			What: "no main part", Content: nativetest.Zip(t, "ppt/x.xml", "<x/>"), Class: taskerr.CorruptionDetected,
			Message: "no main part",
		},
		{
			What: "a slide is missing", Content: nativetest.Zip(t, "ppt/presentation.xml",
				`<p`+namespaces+`><sldId r:id="r0"/></p>`),
			Class: taskerr.CorruptionDetected, Message: "slide 1 is missing",
		},
		{What: "truncated", Content: whole[:len(whole)/2], Class: taskerr.CorruptionDetected, Message: "damaged"},
		{What: "XML cut off", Content: deck(t, []string{"<p:sp>"}), Class: taskerr.CorruptionDetected, Message: "XML"},
		{
			What: "deep groups", Content: deck(t, []string{strings.Repeat("<p:grpSp>", 100_000)}),
			Class: taskerr.CorruptionDetected, Message: "nested deeper than 256",
		},
		{
			What: "too many slides", Content: deck(t, slices.Repeat([]string{""}, 20)), Limits: extract.Limits{Pages: 10},
			Class: taskerr.QuotaExceeded, Message: "more than 10 slides",
		},
		{
			What: "too much text, still held", Content: deck(t, []string{strings.Repeat(text, 100)}),
			Limits: extract.Limits{Characters: 100}, Class: taskerr.QuotaExceeded, Message: "100 characters",
		},
		{
			What: "too many empty shapes", Content: deck(t, []string{strings.Repeat("<p:sp/>", 200_001)}),
			Limits: extract.Limits{ZipRatio: 1 << 20},
			Class:  taskerr.QuotaExceeded, Message: "slide 1 holds more than",
		},
		{
			What: "too many empty cells", Content: deck(t,
				[]string{frame("<a:tbl><a:tr>" + strings.Repeat("<a:tc/>", 200_001) + "</a:tr></a:tbl>")}),
			Limits: extract.Limits{ZipRatio: 1 << 20},
			Class:  taskerr.QuotaExceeded, Message: "slide 1 holds more than",
		},
	})
}

// TestMemory: text that is held back counts toward the limit.
func TestMemory(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, pptx.New(), deck(t, []string{sp("", at(0, 0), p("", strings.Repeat("x", 1000)))}))
}

// TestNamesAreCharged: the names and ids of authors count, and the ids of the points of a diagram.
func TestNamesAreCharged(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("x", 1000)
	nativetest.CountsHeldText(t, pptx.New(), deck(t, []string{""},
		"ppt/commentAuthors.xml", `<p:cmAuthorLst`+namespaces+`><p:cmAuthor id="`+id+`"/></p:cmAuthorLst>`))
	nativetest.CountsHeldText(t, pptx.New(), deck(t, []string{frame(`<dgm:relIds r:dm="r0"/>`)},
		"ppt/slides/_rels/slide1.xml.rels", nativetest.Relations("diagramData", "../diagrams/d.xml"),
		"ppt/diagrams/d.xml", `<dgm:dataModel`+namespaces+`><dgm:pt modelId="`+id+`"/></dgm:dataModel>`))
}

// TestChartIsCharged: the text of a chart counts before it is emitted.
func TestChartIsCharged(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, pptx.New(), deck(t, []string{frame(`<c:chart r:id="r0"/>`)},
		"ppt/slides/_rels/slide1.xml.rels", nativetest.Relations("chart", "../charts/c.xml"),
		"ppt/charts/c.xml", `<c:chartSpace`+namespaces+`><c:pieChart><c:ser><c:val><c:pt idx="0"><c:v>`+
			strings.Repeat("x", 1000)+`</c:v></c:pt></c:val></c:ser></c:pieChart></c:chartSpace>`))
}

// TestCancel: a cancellation stops the reading of a slide before any of it is emitted.
func TestCancel(t *testing.T) {
	t.Parallel()
	nativetest.Stops(t, pptx.New(), deck(t, []string{strings.Repeat(sp("", at(0, 0), p("", "x")), 1000)}))
}

// TestSlideListedTwice: a slide is read once, however often a file lists it.
func TestSlideListedTwice(t *testing.T) {
	t.Parallel()
	once := `<p:sldIdLst><p:sldId id="256" r:id="rId0"/>`
	content := nativetest.Zip(t,
		"ppt/presentation.xml", "<p:presentation"+namespaces+">"+once+strings.Repeat(`<p:sldId id="257" r:id="rId1"/>`, 1000)+
			"</p:sldIdLst></p:presentation>",
		"ppt/_rels/presentation.xml.rels", strings.NewReplacer("r0", "rId0", "r1", "rId1").Replace(
			nativetest.Relations("slide", "slides/slide1.xml", "slide", "slides/slide2.xml")),
		"ppt/slides/slide1.xml", "<p:sld"+namespaces+"><p:cSld><p:spTree>"+sp("", at(0, 0), p("", "One."))+"</p:spTree></p:cSld></p:sld>",
		"ppt/slides/slide2.xml", "<p:sld"+namespaces+"><p:cSld><p:spTree>"+sp("", at(0, 0), p("", "Two."))+"</p:spTree></p:cSld></p:sld>")
	doc, err := nativetest.Extract(t, pptx.New(), extract.PPTX, content, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range doc.Blocks {
		texts = append(texts, b.Text)
	}
	if got := strings.Join(texts, " "); got != "One. Two." {
		t.Errorf("got %.100q", got)
	}
}
