package tesseract

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

// row is a row of TSV: a word in a line of its own.
const row = `5\t1\t1\t1\t%d\t1\t%d\t%d\t100\t40\t90\t%s\n`

// useFake has a program read for tesseract: "first" from every page and, when it is run for tables, what tables prints.
func useFake(t *testing.T, tables string) *Engine {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in\n*--list-langs*) echo eng;;\n*thresholding*) " + tables + ";;\n" +
		"*) printf '" + row + "' 1 210 310 first;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "tesseract"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	e, err := Open(t.Context(), Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ruled returns a page with a table of two columns and rows, with ink in all cells.
func ruled() ocr.Image {
	img := ocrtest.Blank()
	black := func(left, top, right, bottom int) {
		for y := top; y < bottom; y++ {
			copy(img.Pix[y*img.Stride+left:y*img.Stride+right], bytes.Repeat([]byte{0}, right-left))
		}
	}
	for i := range 3 {
		black(200, 300+i*100, 1000, 303+i*100)
		black(200+i*400, 300, 203+i*400, 503)
	}
	for _, at := range []image.Point{{215, 315}, {615, 315}, {215, 415}, {615, 415}} {
		black(at.X, at.Y, at.X+90, at.Y+30)
	}
	return img
}

// second prints a word in the lower left cell; the part of the page that is read begins at (184, 280).
const second = "printf '" + row + "' 1 26 130 second"

func words(p ocr.Page) (all []string) {
	for _, paragraph := range p.Paragraphs {
		all = append(all, paragraph.Text())
	}
	return all
}

// TestReadsTablesAgain: what is left unread in a table is read without its rules. If that fails, what was read is kept.
func TestReadsTablesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		img    ocr.Image
		tables string
		want   int // words
	}{
		"a table": {ruled(), second, 2}, "no table": {ocrtest.Blank(), second, 1}, "a failure": {ruled(), "exit 3", 1},
	} {
		p, err := useFake(t, c.tables).Read(t.Context(), c.img)
		got := words(p)
		if err != nil || len(got) != c.want || got[0] != "first" {
			t.Fatalf("%s: %q %v", name, got, err)
		}
		if c.want < 2 {
			continue
		}
		w, h := float64(c.img.Rect.Dx()), float64(c.img.Rect.Dy())
		if b := p.Paragraphs[1].Box(); got[1] != "second" || b.Left*w < 209 || b.Left*w > 211 || b.Top*h < 409 || b.Top*h > 411 {
			t.Errorf("%s: %q at %+v", name, got[1], b)
		}
	}
}

// TestEndWhileATableIsReadAgain: the end of a page's time keeps what was read, that of the task does not.
func TestEndWhileATableIsReadAgain(t *testing.T) {
	e := useFake(t, second)
	first := ocr.Page{Paragraphs: []ocr.Paragraph{{{{Text: "first", Confidence: 1}}}}}
	errStopped := errors.New("the worker stops")
	for _, cause := range []error{ocr.ErrPageTime, errStopped} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		p, err := e.readTables(ctx, ruled(), first)
		if kept := err == nil && p.Partial && len(words(p)) == 1; kept != errors.Is(cause, ocr.ErrPageTime) || !kept && !errors.Is(err, cause) {
			t.Errorf("%v: %q %v", cause, words(p), err)
		}
	}
}
