package pptx_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
)

// TestAlternatives: an object whose picture is in the fallback, as PowerPoint writes it, is that picture; the deck's
// warnings say which objects have none.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	const (
		kept, lost = "embedded objects are kept as pictures", "embedded objects without a picture are not kept"
		frame      = `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="90" name="Object"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>` +
			`<p:xfrm><a:off x="1" y="2"/><a:ext cx="3" cy="4"/></p:xfrm>` +
			`<a:graphic><a:graphicData>INSIDE</a:graphicData></a:graphic></p:graphicFrame>`
		pic = `<p:pic><p:nvPicPr><p:cNvPr id="91" name="Object"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>` +
			`<p:blipFill><a:blip r:embed="ID"/></p:blipFill><p:spPr><a:xfrm><a:off x="1" y="2"/><a:ext cx="3" cy="4"/></a:xfrm></p:spPr></p:pic>`
		bare, ole = `<p:oleObj spid="_x0000_s1"><p:embed/></p:oleObj>`, `<p:oleObj><p:embed/>` + pic + `</p:oleObj>`
		ink       = `<p14:contentPart xmlns:p14="urn:p14" r:id="rId9"/>`
		model     = `<am3d:model3d xmlns:am3d="urn:am3d"><am3d:raster/></am3d:model3d>`
		shape     = `<p:sp><p:nvSpPr><p:cNvPr id="92" name="Object"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>` +
			`<a:prstGeom prst="rect"/><a:solidFill><a:srgbClr val="102030"/></a:solidFill>` +
			`</p:spPr></p:sp>`
	)
	within := func(inside string) string { return strings.Replace(frame, "INSIDE", inside, 1) }
	either := func(requires, choice, fallback string) string {
		return `<mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice Requires="` + requires + `">` + choice + `</mc:Choice>` +
			fallback + `</mc:AlternateContent>`
	}
	fallback := func(inside string) string { return `<mc:Fallback>` + inside + `</mc:Fallback>` }
	for name, c := range map[string]struct {
		added, warning string
		kind           deck.Kind // of the object; empty: it is not kept
	}{
		"an object":                   {within(either("v", bare, fallback(ole))), kept, deck.PictureElement},
		"its picture is the choice's": {within(either("v", ole, fallback(bare))), kept, deck.PictureElement},
		"nowhere a picture":           {within(either("v", bare, fallback(bare))), lost, ""},
		"no fallback":                 {within(either("v", bare, "")), lost, ""},
		"handwriting":                 {either("p14", ink, fallback(pic)), "", deck.PictureElement},
		"handwriting alone":           {either("p14", ink, ""), "handwriting without a picture is not kept", ""},
		"a model":                     {either("am3d", within(model), fallback(pic)), "", deck.PictureElement},
		"a newer chart":               {either("cx1", within("<cx:chart/>"), fallback(pic)), "", deck.PictureElement},
		"a shape":                     {either("a14", shape, fallback(pic)), "", deck.ShapeElement},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := edit(t, decktest.PPTX(t, decktest.Sample(t)), func(part string, data []byte) []byte {
				if part != "ppt/slides/slide3.xml" {
					return data
				}
				_, id, _ := strings.Cut(string(data), `r:embed="`)
				id, _, _ = strings.Cut(id, `"`)
				added := strings.ReplaceAll(c.added, "ID", id)
				return []byte(strings.Replace(string(data), "</p:spTree>", added+"</p:spTree>", 1))
			})
			path := filepath.Join(t.TempDir(), "deck.pptx")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			d, warnings, err := pptx.Read(t.Context(), path, pptx.ReadOptions{Folder: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			var got deck.Kind
			for _, e := range d.Slides[2].Elements {
				if e.Name == "Object" {
					got += e.Kind
				}
			}
			if got != c.kind || c.warning != "" && !slices.Contains(warnings, c.warning) || c.warning == "" && len(warnings) > 0 {
				t.Errorf("it is %q with the warnings %q; want %q and %q", got, warnings, c.kind, c.warning)
			}
		})
	}
}
