package pptx_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// file is a presentation in a file.
func file(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.pptx")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// within writes a deck with a template.
func within(t *testing.T, template []byte, d *deck.Deck) []byte {
	t.Helper()
	tpl, err := pptx.OpenTemplate(t.Context(), file(t, template), extract.Limits{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tpl.Close() }() // read-only
	var out bytes.Buffer
	options := pptx.WriteOptions{Template: tpl, Media: decktest.Media(t)}
	if _, err := pptx.Write(t.Context(), &out, deck.Restyle(d, tpl.Look()), options); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decorated is Sample with a picture and a chart in a layout, and without the slide that has a picture.
func decorated(t *testing.T, picture []byte) []byte {
	t.Helper()
	d := decktest.Sample(t)
	d.Slides = slices.Delete(d.Slides, 2, 3)
	key := hash(picture)
	d.Media = map[string]deck.Media{key: {Type: "image/png", Bytes: int64(len(picture))}}
	l := d.Layout("title_only")
	l.Elements = append(l.Elements,
		deck.Element{Kind: deck.PictureElement, Box: &deck.Box{W: 1e6, H: 1e6}, Picture: &deck.Picture{Media: key}},
		deck.Element{Kind: deck.ChartElement, Box: &deck.Box{Y: 3e6, W: 3e6, H: 3e6}, Chart: decktest.Chart(deck.PieChart)})
	var out bytes.Buffer
	if _, err := pptx.Write(t.Context(), &out, d, pptx.WriteOptions{Media: func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(picture)), nil
	}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TestExportAsTemplate: an export that is a template keeps its pictures and charts beside those of the deck. Each chart has
// its type.
func TestExportAsTemplate(t *testing.T) {
	t.Parallel()
	logo := []byte("a logo")
	template := decorated(t, logo)
	typed(t, template, 2)
	out := within(t, template, decktest.Sample(t))
	typed(t, out, 2)
	names, sums := map[string]bool{}, map[string]bool{}
	for _, name := range parts(t, out) {
		if names[strings.ToLower(name)] {
			t.Errorf("two parts have the name %s", name)
		}
		names[strings.ToLower(name)] = true
		sums[hash([]byte(content(t, out, name)))] = true
	}
	if _, key := decktest.Picture(t); !sums[key] || !sums[hash(logo)] {
		t.Errorf("a picture of the deck or of the template is not among %q", parts(t, out))
	}
}

// typed checks that a presentation has so many charts, and that each has a content type.
func typed(t *testing.T, file []byte, want int) {
	t.Helper()
	types := content(t, file, "[Content_Types].xml")
	for _, name := range parts(t, file) {
		if path.Dir(name) != "ppt/charts" {
			continue
		}
		want--
		const chart = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
		if !strings.Contains(types, `<Override PartName="/`+name+`" ContentType="`+chart+`"`) {
			t.Errorf("%s has no content type", name)
		}
	}
	if want != 0 {
		t.Errorf("%d charts too few in %q", want, parts(t, file))
	}
}

// TestTemplateNamesItsSlides: what of a template leads to its own slides leads to one of the deck, or is left out. No
// relation leads to a part that is not there; others stay as they are.
func TestTemplateNamesItsSlides(t *testing.T) {
	t.Parallel()
	const rels, web = "ppt/slideMasters/_rels/slideMaster1.xml.rels", "https://example.org/?a=1&b=2"
	toSlide := fmt.Sprintf(relationTag, "slide", "../slides/slide4.xml", "")
	template := edit(t, decktest.PPTX(t, decktest.Sample(t)), replaced(rels, "</Relationships>", toSlide))
	template = edit(t, template, replaced(rels, "</Relationships>",
		strings.Replace(fmt.Sprintf(relationTag, "hyperlink", html.EscapeString(web), external), "rIdEvil", "rIdWeb", 1)))
	template = edit(t, template, replaced("ppt/viewProps.xml", "/>",
		`><p:outlineViewPr><p:cViewPr/><p:sldLst><p:sld r:id="rIdEvil"/></p:sldLst></p:outlineViewPr></p:viewPr>`))
	template = added(t, template, "ppt/_rels/viewProps.xml.rels",
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+strings.Replace(toSlide, "../", "", 1))
	d := decktest.Sample(t)
	d.Slides = d.Slides[:3]
	out := within(t, template, d)
	if got := content(t, out, "ppt/viewProps.xml"); strings.Contains(got, "rId") {
		t.Errorf("the windows name slides: %s", got)
	}
	pkg, err := ooxml.Open(file(t, out), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pkg.Close() }() // read-only
	names := parts(t, out)
	for _, name := range names {
		relations, err := pkg.Relations(t.Context(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for id, r := range relations {
			if !r.External && !slices.Contains(names, r.Target) {
				t.Errorf("%s of %s leads to %s, which is not there", id, name, r.Target)
			}
		}
		if path.Base(name) == "slideMaster1.xml" && (relations["rIdEvil"].Target != "ppt/slides/slide1.xml" ||
			relations["rIdWeb"].Target != web || relations["rId1"].URI == "" || len(relations) != len(d.Layouts)+3) {
			t.Errorf("the relations of the master are %+v", relations)
		}
	}
}

// added is a presentation with another part.
func added(t *testing.T, whole []byte, name, part string) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range in.File {
		if err := z.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(w, part)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
