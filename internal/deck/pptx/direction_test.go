package pptx_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// directionsOf are the directions of a slide's paragraphs by element, as their styles and they say, and those of tables
// with their cells.
func directionsOf(d *deck.Deck, slide int) map[string][]bool {
	out := map[string][]bool{}
	s := &d.Slides[slide]
	for i := range s.Elements {
		e := &s.Elements[i]
		name := string(e.Kind) + " " + string(e.Role)
		if e.Text != nil {
			for _, p := range e.Text.Paragraphs {
				out[name] = append(out[name], p.RightToLeft(d.Layout(s.Layout).Style(e, p.Level)))
			}
		}
		if e.Table != nil {
			out[name] = append(out[name], e.Table.RTL, e.Table.Rows[0].Cells[0].Text.Paragraphs[0].RightToLeft(deck.Style{}))
		}
	}
	return out
}

// TestInheritedDirection: paragraphs have the direction of the presentation, the master, the layout and their own text,
// each before the one before it, and still have it when the deck has become a presentation again.
func TestInheritedDirection(t *testing.T) {
	t.Parallel()
	const (
		main, master   = "ppt/presentation.xml", "ppt/slideMasters/slideMaster1.xml"
		content, plain = "ppt/slideLayouts/slideLayout3.xml", "ppt/slides/slide2.xml"
	)
	none := []bool{false, false, false, false, false, false}
	whole := edit(t, decktest.PPTX(t, decktest.Sample(t)), func(name string, part []byte) []byte {
		return []byte(strings.ReplaceAll(string(part), ` rtl="0"`, "")) // nothing says it
	})
	with := func(part, begin, from, to string) func(string, []byte) []byte {
		return func(name string, data []byte) []byte {
			if before, after, found := strings.Cut(string(data), begin); name == part && found {
				return []byte(before + begin + strings.Replace(after, from, to, 1))
			}
			return data
		}
	}
	for what, c := range map[string]struct {
		changes []func(string, []byte) []byte
		slide   int
		element string
		want    []bool
	}{
		"nowhere":    {nil, 1, "text body", none},
		"the master": {[]func(string, []byte) []byte{with(master, "<p:bodyStyle>", "<a:lvl2pPr", `<a:lvl2pPr rtl="1"`)}, 1, "text body", []bool{false, true, true, false, false, false}},
		"the layout": {[]func(string, []byte) []byte{with(content, `idx="1"`, "<a:lvl1pPr", `<a:lvl1pPr rtl="1"`)}, 1, "text body", []bool{true, false, false, true, true, true}},
		"the layout against the master": {
			[]func(string, []byte) []byte{with(master, "<p:bodyStyle>", "<a:lvl2pPr", `<a:lvl2pPr rtl="1"`), with(content, `idx="1"`, "<a:lvl2pPr", `<a:lvl2pPr rtl="0"`)},
			1, "text body", none,
		},
		"the text": {
			[]func(string, []byte) []byte{with(plain, `idx="1"`, "<a:lstStyle/>", `<a:lstStyle><a:lvl2pPr rtl="1"/></a:lstStyle>`)},
			1, "text body",
			[]bool{false, true, true, false, false, false},
		},
		"a paragraph against its text": {
			[]func(string, []byte) []byte{
				with(plain, `idx="1"`, "<a:lstStyle/>", `<a:lstStyle><a:lvl2pPr rtl="1"/></a:lstStyle>`), with(plain, "basin", `lvl="1"`, `lvl="1" rtl="0"`),
			}, 1, "text body", []bool{false, false, true, false, false, false},
		},
		"the master, for boxes": {[]func(string, []byte) []byte{with(master, "<p:otherStyle>", "<a:lvl1pPr", `<a:lvl1pPr rtl="1"`)}, 2, "shape ", []bool{true}},
		"the master, for cells": {[]func(string, []byte) []byte{with(master, "<p:otherStyle>", "<a:lvl1pPr", `<a:lvl1pPr rtl="1"`)}, 2, "table ", []bool{false, true}},
		"a table":               {[]func(string, []byte) []byte{with("ppt/slides/slide3.xml", "", "<a:tblPr", `<a:tblPr rtl="1"`)}, 2, "table ", []bool{true, false}},
		"the presentation": {
			[]func(string, []byte) []byte{with(main, "", "</p:presentation>", `<p:defaultTextStyle><a:defPPr rtl="1"/></p:defaultTextStyle></p:presentation>`)},
			2, "table ",
			[]bool{false, true},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			changed := whole
			for _, change := range c.changes {
				changed = edit(t, changed, change)
			}
			for _, when := range []string{"read", "written and read"} {
				d, err := read(t, changed, extract.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got := directionsOf(d, c.slide)[c.element]; !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: %t, want %t", when, got, c.want)
				}
				changed = decktest.PPTX(t, d)
			}
		})
	}
}
