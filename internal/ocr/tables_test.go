package ocr_test

import (
	"image"
	"image/color"
	"image/draw"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

// fill gives a rectangle of an image a brightness.
func fill(img ocr.Image, brightness uint8, r image.Rectangle) {
	draw.Draw(img.Gray, r, image.NewUniform(color.Gray{Y: brightness}), image.Point{}, draw.Src)
}

// table is where ruled draws one, in pixels.
var table = image.Rect(200, 300, 1400, 700)

// ruled returns a page with a table of 4 columns and rows, whose rules fall by some pixels to the right and have a
// brightness, as the cells have, and in each cell a letter, which touches the rule below; another one is beside the table.
func ruled(fall int, rules, cells uint8) ocr.Image {
	img := ocrtest.Blank()
	fill(img, cells, table)
	fill(img, 0, image.Rect(table.Min.X-14, 400, table.Min.X-6, 430))
	for i := range 5 {
		x, y := table.Min.X+i*300, table.Min.Y+i*100
		fill(img, rules, image.Rect(x, table.Min.Y, x+3, table.Max.Y+fall))
		for at := table.Min.X; at < table.Max.X; at++ {
			down := y + (at-table.Min.X)*fall/table.Dx()
			fill(img, rules, image.Rect(at, down, at+1, down+3))
		}
	}
	for i := range 16 {
		x, y := table.Min.X+i%4*300+100, table.Min.Y+i/4*100+100
		fill(img, 0, image.Rect(x, y-30, x+20, y+i%4))
	}
	return img
}

// onGray returns an image on gray paper.
func onGray(img ocr.Image) ocr.Image {
	for i, v := range img.Pix {
		img.Pix[i] = min(v, 225)
	}
	return img
}

func cell(column, row int) ocr.Word {
	w, h := float64(ocrtest.Blank().Rect.Dx()), float64(ocrtest.Blank().Rect.Dy())
	x, y := float64(table.Min.X+column*300), float64(table.Min.Y+row*100)
	return ocr.Word{Text: "a", Confidence: 0.9, Box: ocr.Box{
		Left: (x + 90) / w, Top: (y + 60) / h, Right: (x + 130) / w, Bottom: (y + 100) / h,
	}}
}

func page(words ...ocr.Word) ocr.Page {
	return ocr.Page{Paragraphs: []ocr.Paragraph{{ocr.Line(words)}}}
}

func cells() []ocr.Word {
	var all []ocr.Word
	for i := range 16 {
		all = append(all, cell(i%4, i/4))
	}
	return all
}

// TestUnreadTables: a table is returned without its rules, but with the letters that touch them.
func TestUnreadTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		img ocr.Image
		ink uint8 // at most
	}{
		"straight": {ruled(0, 0, 255), 220}, "falling": {ruled(8, 0, 255), 220}, "pale": {ruled(0, 180, 255), 220},
		"gray cells": {ruled(0, 0, 180), 100}, "gray paper": {onGray(ruled(0, 0, 255)), 190},
	} {
		part, ok := ocr.UnreadTables(c.img, ocr.Page{})
		if !ok {
			t.Fatalf("%s: no table", name)
		}
		w, h := float64(c.img.Rect.Dx()), float64(c.img.Rect.Dy())
		left, top := int(part.Part.Left*w+0.5), int(part.Part.Top*h+0.5)
		if beside, want := part.GrayAt(0, 0), c.img.GrayAt(0, 0); beside != want {
			t.Errorf("%s: paper of %v beside the table, not %v", name, beside, want)
		}
		if area := part.Rect.Add(image.Pt(left, top)); !table.In(area) || area.Dy() > 500 {
			t.Errorf("%s: %v", name, area)
		}
		ink, letters := 0, 0
		for y := range part.Rect.Dy() {
			for x := range part.Rect.Dx() {
				if part.GrayAt(x, y).Y > c.ink {
					continue
				}
				ink++
				if column := (x + left - table.Min.X) % 300; column >= 100 && column < 120 {
					letters++
				}
			}
		}
		if letters < 16*20*28 || letters > 16*20*36 || ink-letters > 100 {
			t.Errorf("%s: %d pixels of letters are left, and %d others", name, letters, ink-letters)
		}
	}
}

// TestUnreadTablesThatWereRead: a table whose letters are all covered by sure words is not read again.
func TestUnreadTablesThatWereRead(t *testing.T) {
	t.Parallel()
	all := cells()
	doubtful := append(cells()[:15], all[15])
	doubtful[15].Confidence = 0.4
	for name, c := range map[string]struct {
		read   ocr.Page
		unread bool
	}{
		"all": {page(all...), false}, "all but one": {page(all[:15]...), true}, "one is doubtful": {page(doubtful...), true},
	} {
		if _, unread := ocr.UnreadTables(ruled(0, 0, 255), c.read); unread != c.unread {
			t.Errorf("%s: %v", name, unread)
		}
	}
}

// TestWithoutTables: text, lines that don't cross, a frame without text and a dark picture are no tables to read.
func TestWithoutTables(t *testing.T) {
	t.Parallel()
	lines, frame, picture, bars := ocrtest.Blank(), ocrtest.Blank(), ocrtest.Blank(), ocrtest.Blank()
	for y := 300; y < 1000; y += 100 {
		fill(lines, 0, image.Rect(100, y, 1500, y+3))
		fill(lines, 0, image.Rect(200, y+30, 1000, y+60))
	}
	fill(frame, 0, image.Rect(100, 100, 1500, 2200))
	fill(frame, 255, image.Rect(103, 103, 1497, 2197))
	fill(picture, 0, image.Rect(300, 300, 1200, 1200))
	for x := 300; x < 900; x += 10 {
		fill(bars, 0, image.Rect(x, 300, x+4, 500))
	}
	for name, img := range map[string]ocr.Image{
		"text": ocrtest.Scan(t, 0, "Every ship that enters", "or leaves the port"), "lines": lines, "frame": frame,
		"picture": picture, "bars": bars,
	} {
		if part, ok := ocr.UnreadTables(img, ocr.Page{}); ok {
			t.Errorf("%s: %v", name, part.Part)
		}
	}
}

// TestWith: another reading adds its sure words where a page has none, and replaces doubtful ones of less
// evidence.
func TestWith(t *testing.T) {
	t.Parallel()
	word := func(text string, column, row int, confidence float64) ocr.Word {
		w := cell(column, row)
		w.Text, w.Confidence = text, confidence
		return w
	}
	above, doubtful, below := word("above", 0, 0, 0.9), word("d0ubtful", 0, 1, 0.3), word("below", 0, 3, 0.9)
	own := ocr.Page{
		Paragraphs: []ocr.Paragraph{{{above}}, {{doubtful, word("kept", 2, 1, 0.4)}}, {{below}}}, Turned: 2,
	}
	other := page(word("wrong", 0, 0, 1), word("sure", 0, 1, 0.8), word("added", 1, 1, 0.8), word("w", 2, 1, 0.5),
		word("noise", 3, 1, 0.4), word("—", 3, 2, 0.9))
	both := own.With(other)
	var got []string
	for _, p := range both.Paragraphs {
		got = append(got, p.Text())
	}
	if want := []string{"above", "kept", "sure added", "below"}; !slices.Equal(got, want) || both.Turned != 2 {
		t.Errorf("%q", got)
	}
}
