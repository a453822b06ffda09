package pptx_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	blipFill = `<a:blipFill><a:blip r:embed="ID"/><a:srcRect l="20000"/><a:stretch><a:fillRect t="-50000" b="-50000"/></a:stretch></a:blipFill>`
	// blueStyle is what PowerPoint gives all shapes: they are blue unless they say otherwise.
	blueStyle = `<p:style><a:lnRef idx="0"><a:schemeClr val="accent1"/></a:lnRef><a:fillRef idx="1"><a:schemeClr val="accent1"/></a:fillRef>` +
		`<a:effectRef idx="0"><a:schemeClr val="accent1"/></a:effectRef><a:fontRef idx="minor"><a:schemeClr val="lt1"/></a:fontRef></p:style>`
)

// filledShape is a p:sp with a fill and a text.
func filledShape(placeholder, fill, text string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="90" name="Filled" descr="A quay"/><p:cNvSpPr/><p:nvPr>` + placeholder + `</p:nvPr></p:nvSpPr>` +
		`<p:spPr><a:xfrm><a:off x="1" y="2"/><a:ext cx="3" cy="4"/></a:xfrm><a:prstGeom prst="ellipse"><a:avLst/></a:prstGeom>` + fill +
		`</p:spPr>` + blueStyle + `<p:txBody><a:bodyPr/><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
}

// withShapes adds shapes to a slide of the sample that has a picture, whose relation is ID in them.
func withShapes(t testing.TB, added string) []byte {
	t.Helper()
	return edit(t, decktest.PPTX(t, decktest.Sample(t)), func(part string, data []byte) []byte {
		if part != "ppt/slides/slide3.xml" {
			return data
		}
		_, id, _ := strings.Cut(string(data), `r:embed="`)
		id, _, _ = strings.Cut(id, `"`)
		return []byte(strings.Replace(string(data), "</p:spTree>", strings.ReplaceAll(added, "ID", id)+"</p:spTree>", 1))
	})
}

// readWarned reads a presentation, and returns its warnings, too.
func readWarned(t testing.TB, content []byte) (*deck.Deck, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deck.pptx")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d, warnings, err := pptx.Read(t.Context(), path, pptx.ReadOptions{Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return d, warnings
}

// TestFilledShapes: a picture that fills a shape, as PowerPoint and Canva write them, is a picture of the deck, below the
// shape's text; the warnings say which pictures are not there.
func TestFilledShapes(t *testing.T) {
	t.Parallel()
	title := `<p:ph type="body" idx="77"/>`
	for name, c := range map[string]struct {
		added   string
		kinds   []deck.Kind
		warning string
	}{
		"without text":     {filledShape("", blipFill, ""), []deck.Kind{deck.PictureElement}, ""},
		"with text":        {filledShape("", blipFill, "Quay"), []deck.Kind{deck.PictureElement, deck.TextElement}, ""},
		"with a line":      {filledShape("", blipFill+`<a:ln w="9525"><a:solidFill><a:srgbClr val="102030"/></a:solidFill></a:ln>`, ""), []deck.Kind{deck.PictureElement, deck.ShapeElement}, ""},
		"a placeholder":    {filledShape(title, blipFill, "Quay"), []deck.Kind{deck.PictureElement, deck.TextElement}, ""},
		"an empty one":     {filledShape(title, blipFill, ""), []deck.Kind{deck.PictureElement}, ""},
		"no such relation": {filledShape("", strings.ReplaceAll(blipFill, "ID", "rId99"), "Quay"), []deck.Kind{deck.ShapeElement}, "pictures are missing in the file"},
		"linked": {
			filledShape("", strings.ReplaceAll(blipFill, "r:embed", "r:link"), "Quay"),
			[]deck.Kind{deck.ShapeElement}, // in the colour of its style, on which its text can be read
			"pictures that are linked, and not in the file, are not kept",
		},
		"hidden": {strings.Replace(filledShape("", blipFill, "Quay"), `id="90"`, `id="90" hidden="1"`, 1), nil, ""},
		"tiles": {
			filledShape("", `<a:blipFill><a:blip r:embed="ID"/><a:srcRect l="20000" t="25000" b="25000"/><a:tile/></a:blipFill>`, ""),
			[]deck.Kind{deck.PictureElement},
			"pictures that are repeated as tiles are shown once",
		},
		"a group": {`<p:grpSp><p:grpSpPr>` + blipFill + `</p:grpSpPr></p:grpSp>`, nil, "pictures that fill groups are not kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, warnings := readWarned(t, withShapes(t, c.added))
			_, key := decktest.Picture(t)
			var kinds []deck.Kind
			drawn := 0
			for _, e := range d.Slides[2].Elements {
				if e.Name != "Filled" {
					continue
				}
				kinds = append(kinds, e.Kind)
				fill := "" // nothing covers the picture
				if c.kinds[0] == deck.ShapeElement {
					fill = "accent1"
				}
				if e.Box == nil || e.Box.W != 3 || e.Box.H != 4 || e.Z < drawn || e.Shape != nil && e.Shape.Fill != fill {
					t.Errorf("%+v has the place %+v, and %+v", e, e.Box, e.Shape)
				}
				drawn = e.Z
				want := &deck.Picture{Media: key, Crop: &deck.Crop{Left: 0.2, Top: 0.25, Bottom: 0.25}}
				if e.Picture != nil && (!reflect.DeepEqual(e.Picture, want) || e.Alt != "A quay" || e.Role != "") {
					t.Errorf("%+v shows %+v of %+v", e, e.Picture.Crop, e.Picture)
				}
				if e.Picture == nil && c.kinds[0] == deck.PictureElement && e.Alt != "" {
					t.Errorf("the alternative text of the picture is there twice: %q", e.Alt)
				}
			}
			if !slices.Equal(kinds, c.kinds) || c.warning == "" && len(warnings) > 0 || c.warning != "" && !slices.Equal(warnings, []string{c.warning}) {
				t.Errorf("it is %q with the warnings %q; want %q and %q", kinds, warnings, c.kinds, c.warning)
			}
		})
	}
}

// TestFilledCells: a deck has no pictures within tables and layouts' placeholders, and says so.
func TestFilledCells(t *testing.T) {
	t.Parallel()
	whole := decktest.PPTX(t, decktest.Sample(t))
	for warning, change := range map[string]func(string, []byte) []byte{
		"pictures that fill cells of a table are not kept": replaced("ppt/slides/slide3.xml", "<a:tcPr></a:tcPr>", "<a:tcPr>"+blipFill+"</a:tcPr>"),
		"pictures behind tables are not kept":              replaced("ppt/slides/slide3.xml", "<a:tableStyleId>", blipFill+"<a:tableStyleId>"),
		"pictures that fill placeholders of layouts are not kept": replaced("ppt/slideLayouts/slideLayout3.xml", "</p:spTree>",
			filledShape(`<p:ph type="pic" idx="9"/>`, blipFill, "")+"</p:spTree>"),
	} {
		if _, warnings := readWarned(t, edit(t, whole, change)); !slices.Equal(warnings, []string{warning}) {
			t.Errorf("the warnings are %q; want %q", warnings, warning)
		}
	}
}

// TestManyFilledShapes: a picture that fills many shapes is in the deck once.
func TestManyFilledShapes(t *testing.T) {
	t.Parallel()
	shape := `<p:sp><p:spPr><a:blipFill><a:blip r:embed="ID"/></a:blipFill></p:spPr></p:sp>`
	d, err := read(t, withShapes(t, strings.Repeat(shape, 500)), extract.Limits{ZipRatio: 10_000})
	if err != nil || len(d.Media) != 1 || len(d.Slides[2].Elements) < 500 {
		t.Fatalf("%d pictures: %v", len(d.Media), err)
	}
}
