package preview_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/seed-7227ef26/async-worker/internal/deck/preview"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// file is a PDF whose pages have these widths in points, and are red, green and blue in turn.
func file(t *testing.T, widths ...float64) string {
	t.Helper()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("pdftoppm is not installed; apt install poppler-utils")
	}
	p := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: 400, Ht: 300}})
	for i, w := range widths {
		p.AddPageFormat("P", fpdf.SizeType{Wd: w, Ht: 300})
		colors := [3]int{}
		colors[i%3] = 255
		p.SetFillColor(colors[0], colors[1], colors[2])
		p.Rect(0, 0, w, 300, "F")
	}
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := p.OutputFileAndClose(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, path string) image.Image {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestRenderEnds: pictures don't fill the disk, however many the pages are.
func TestRenderEnds(t *testing.T) {
	t.Parallel()
	folder, drawn := t.TempDir(), 0
	_, err := preview.Render(t.Context(), file(t, slices.Repeat([]float64{400}, 100)...), folder, preview.Options{
		Width: 120, Bytes: 2000, Each: func(int, image.Image) error {
			drawn++
			return nil
		},
	})
	if taskerr.Classify(err).Class != taskerr.QuotaExceeded || drawn == 0 || drawn > 50 {
		t.Errorf("%d pictures, %v", drawn, err)
	}
}

// TestRender: each page has its picture, whatever its size; the sheet has them all in their places.
func TestRender(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	sheet := preview.NewSheet(4)
	files, err := preview.Render(t.Context(), file(t, 400, 200, 400, 600), folder, preview.Options{Width: 120, Each: sheet.Add})
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	primary := []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 0, 0, 255}}
	for i, height := range []int{90, 180, 90, 60} {
		img := load(t, files[i])
		if img.Bounds() != image.Rect(0, 0, 120, height) || img.At(60, height/2) != color.RGBAModel.Convert(primary[i]) {
			t.Errorf("slide %d: %v, %v", i+1, img.Bounds(), img.At(60, height/2))
		}
	}
	path := filepath.Join(folder, "sheet.png")
	if err := sheet.Save(path); err != nil {
		t.Fatal(err)
	}
	all := load(t, path)
	for i, at := range []image.Point{{170, 130}, {510, 130}, {850, 130}, {170, 380}} {
		if got := all.At(at.X, at.Y); got != color.RGBAModel.Convert(primary[i]) {
			t.Errorf("at %v of the sheet is %v", at, got)
		}
	}
}

// TestRenderSome: pages between those that are asked for have no picture, and pages that the file doesn't have, neither.
func TestRenderSome(t *testing.T) {
	t.Parallel()
	var places []int
	files, err := preview.Render(t.Context(), file(t, 400, 400, 400, 400), t.TempDir(), preview.Options{
		Pages: []int{2, 4, 5}, Width: 40, Each: func(place int, _ image.Image) error {
			places = append(places, place)
			return nil
		},
	})
	if err != nil || len(files) != 2 || !slices.Equal(places, []int{0, 1}) {
		t.Fatalf("%v, places %v, %v", files, places, err)
	}
	for i, want := range []color.RGBA{{0, 255, 0, 255}, {255, 0, 0, 255}} {
		if got := load(t, files[i]).At(20, 10); got != want {
			t.Errorf("picture %d is %v", i+1, got)
		}
	}
}

// TestRenderOne: one page, and one that there is not.
func TestRenderOne(t *testing.T) {
	t.Parallel()
	path := file(t, 400, 400)
	files, err := preview.Render(t.Context(), path, t.TempDir(), preview.Options{Pages: []int{2}, Width: 40})
	if err != nil || len(files) != 1 || load(t, files[0]).At(20, 10) != (color.RGBA{0, 255, 0, 255}) {
		t.Errorf("%v, %v", files, err)
	}
	if files, err := preview.Render(t.Context(), path, t.TempDir(), preview.Options{Pages: []int{3}}); err == nil {
		t.Errorf("a page that is not there: %v", files)
	}
}

// TestRenderRefuses: a page that is too large for memory, what is no PDF, and the error of the caller.
func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	if files, err := preview.Render(t.Context(), file(t, 20), t.TempDir(), preview.Options{Width: 1200}); err == nil {
		t.Errorf("1200 by 18,000 pixels: %v", files)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.pdf")
	if err := os.WriteFile(damaged, []byte("%PDF-1.4\nnot one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := preview.Render(t.Context(), damaged, t.TempDir(), preview.Options{}); err == nil {
		t.Errorf("what is no PDF: %v", files)
	}
	stop := errors.New("stop")
	_, err := preview.Render(t.Context(), file(t, 400), t.TempDir(), preview.Options{Each: func(int, image.Image) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("the caller's error: %v", err)
	}
}
