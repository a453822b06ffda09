package tesseract

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

// row prints a row of TSV: a word of a line, given its left, top, width, height and text.
const row = `printf '5\t1\t1\t1\t1\t1\t%d\t%d\t%d\t%d\t90\t%s\n' `

const (
	first = row + "210 310 100 40 first"
	// lower is in the lower left cell. The part of the page that is read begins at (184, 280).
	lower = row + "26 130 100 40 second"
	// turned is there if that part, of 840 × 240 pixels, is rotated by 270 degrees.
	turned = row + "100 750 100 40 second"
)

// useFake has a program read for tesseract: it prints page and, when it is run for tables, tables.
func useFake(t *testing.T, page, tables string) *Engine {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in\n*--list-langs*) echo eng;;\n*thresholding*) " + tables + ";;\n" +
		"*) " + page + ";;\nesac\n"
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

func words(p ocr.Page) (all []string) {
	for _, paragraph := range p.Paragraphs {
		all = append(all, paragraph.Text())
	}
	return all
}

// TestReadsTablesAgain: what is left unread in a table is read without its rules. If that fails, what was read is kept.
func TestReadsTablesAgain(t *testing.T) {
	down := row + "615 310 40 80 first;" + row + "615 410 40 80 first"
	for name, c := range map[string]struct {
		img          ocr.Image
		page, tables string
		left, top    int // of the second word; zero: there is none
	}{
		"a table": {ruled(), first, lower, 210, 410}, "lines run down": {ruled(), down, turned, 234, 380},
		"no table": {ocrtest.Blank(), first, lower, 0, 0}, "a failure": {ruled(), first, "exit 3", 0, 0},
	} {
		p, err := useFake(t, c.page, c.tables).Read(t.Context(), c.img)
		got := words(p)
		if err != nil || len(got) == 0 || !strings.HasPrefix(got[0], "first") || (len(got) == 2) != (c.left > 0) {
			t.Fatalf("%s: %q %v", name, got, err)
		}
		if len(got) < 2 {
			continue
		}
		b := p.Paragraphs[1].Box()
		left, top := b.Left*float64(c.img.Rect.Dx()), b.Top*float64(c.img.Rect.Dy())
		if got[1] != "second" || int(left+0.5) != c.left || int(top+0.5) != c.top {
			t.Errorf("%s: %q at %g, %g", name, got[1], left, top)
		}
	}
}

// TestEndWhileATableIsReadAgain: the end of a page's time keeps what was read, that of the task does not.
func TestEndWhileATableIsReadAgain(t *testing.T) {
	e := useFake(t, first, lower)
	read := ocr.Page{Paragraphs: []ocr.Paragraph{{{{Text: "first", Confidence: 1}}}}}
	errStopped := errors.New("the worker stops")
	for _, cause := range []error{ocr.ErrPageTime, errStopped} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		p, err := e.readTables(ctx, ruled(), read)
		if kept := err == nil && p.Partial && len(words(p)) == 1; kept != errors.Is(cause, ocr.ErrPageTime) || !kept && !errors.Is(err, cause) {
			t.Errorf("%v: %q %v", cause, words(p), err)
		}
	}
}
