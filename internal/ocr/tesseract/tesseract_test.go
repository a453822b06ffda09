package tesseract_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func letter() []string {
	return []string{
		"The harbour master keeps a record of every ship that",
		"enters or leaves the port, with the hour, the weather and",
		"the name of its captain. In winter few ships come, and",
		"the book lies open on the same page for many days.",
	}
}

func open(t *testing.T, opts tesseract.Options) *tesseract.Engine {
	t.Helper()
	ocrtest.Need(t, "tesseract")
	e, err := tesseract.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func text(p ocr.Page) string {
	var all []string
	for _, paragraph := range p.Paragraphs {
		all = append(all, paragraph.Text())
	}
	return strings.Join(all, "\n")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	e := open(t, tesseract.Options{})
	t.Logf("%s %s reads %v", e.Name(), e.Version(), e.Languages())
	if e.Name() != "tesseract" || e.Version() == "unknown" || slices.Contains(e.Languages(), "osd") ||
		len(e.Languages()) == 0 {
		t.Errorf("%s %s %v", e.Name(), e.Version(), e.Languages())
	}
}

func TestLanguageWithoutData(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "tesseract")
	_, err := tesseract.Open(t.Context(), tesseract.Options{Languages: []string{"chi_xxx"}})
	if gone, ok := errors.AsType[*ocr.UnavailableError](err); !ok ||
		!strings.Contains(gone.Reason, "install tesseract-ocr-chi-xxx, then restart the worker") {
		t.Errorf("got %v", err)
	}
}

// A language that a task asks for and that is installed now is known after a restart.
func TestUnknownLanguage(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "tesseract")
	e, err := tesseract.Open(t.Context(), tesseract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.For(ocr.Preferences{Languages: []string{"xxx"}}); err == nil ||
		!strings.HasSuffix(err.Error(), "e.g. tesseract-ocr-fra, then restart the worker") {
		t.Errorf("got %v", err)
	}
}

func TestNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := tesseract.Open(t.Context(), tesseract.Options{})
	gone, ok := errors.AsType[*ocr.UnavailableError](err)
	if !ok || gone.Reason != "tesseract is not installed; install tesseract-ocr, then restart the worker" {
		t.Errorf("got %v", err)
	}
}

// A page is read in any orientation, and its boxes are positions on the given image.
func TestReadsEveryRotation(t *testing.T) {
	t.Parallel()
	e := open(t, tesseract.Options{})
	for rotation := range ocr.Rotation(4) {
		p, err := e.Read(t.Context(), ocrtest.Scan(t, rotation, letter()...))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(p.Clean()), strings.Join(letter(), " "); got != want {
			t.Errorf("%d°: %q", rotation.Degrees(), got)
		}
		if p.Confidence() < 0.85 {
			t.Errorf("%d°: confidence %g", rotation.Degrees(), p.Confidence())
		}
		// The text is in the upper third of an upright page.
		b := rotation.Undo(p.Paragraphs[0].Box())
		if b.Top < 0.05 || b.Bottom > 0.25 || b.Left < 0.1 || b.Right > 0.95 || b.Right-b.Left < 0.5 {
			t.Errorf("%d°: %+v", rotation.Degrees(), b)
		}
	}
}

func TestPageWithoutText(t *testing.T) {
	t.Parallel()
	p, err := open(t, tesseract.Options{}).Read(t.Context(), ocrtest.Blank())
	if err != nil || len(p.Clean().Paragraphs) != 0 {
		t.Errorf("%+v %v", p, err)
	}
}

// When the task ends, the program ends, and no temporary file is left.
func TestEndOfTheContextKillsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := open(t, tesseract.Options{TempDir: dir})
	errEnough := errors.New("enough")
	// A page of noise keeps tesseract busy far longer than the context lasts.
	img := ocrtest.Blank()
	state := uint32(1)
	for i := range img.Pix {
		state = state*1664525 + 1013904223
		img.Pix[i] = byte(state >> 24)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errEnough)
	defer cancel()
	if _, err := e.Read(ctx, img); !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
	assertEmpty(t, dir)
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// A program that fails on a page yields an error with its message and leaves nothing behind.
func TestFailingProgram(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\ncase $1 in --version) echo tesseract 5.9;; --list-langs) printf 'eng\\nosd\\n';; *) echo " +
		"broken model >&2; exit 3;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "tesseract"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	img := ocrtest.Blank()
	t.Setenv("PATH", bin)
	dir := t.TempDir()
	e := open(t, tesseract.Options{TempDir: dir})
	if e.Version() != "5.9" {
		t.Errorf("version %q", e.Version())
	}
	if _, err := e.Read(t.Context(), img); err == nil || !strings.Contains(err.Error(), "status 3: broken model") {
		t.Errorf("got %v", err)
	}
	assertEmpty(t, dir)
}

func TestForATask(t *testing.T) {
	t.Parallel()
	e := open(t, tesseract.Options{Languages: []string{"eng"}})
	mine, err := e.For(ocr.Preferences{Languages: []string{"eng"}, Resolution: 1500})
	if err != nil || mine.Abilities().Side != 1500 || e.Abilities().Side != 0 || e.Abilities().DPI != 300 ||
		ocr.Identity(mine) != "tesseract:eng" {
		t.Errorf("%v %v", mine, err)
	}
	for resolution, want := range map[int]int{0: 0, 1: 256, 1024: 1024, 100_000: 10_000} {
		if mine, err = e.For(ocr.Preferences{Resolution: resolution}); err != nil || mine.Abilities().Side != want {
			t.Errorf("%d: %v %v", resolution, mine, err)
		}
	}
	for _, unknown := range []string{"klingon", "osd", "eng+deu", "-l", ""} {
		_, err = e.For(ocr.Preferences{Languages: []string{unknown}})
		if problem, ok := errors.AsType[*taskerr.Error](err); !ok || problem.Class != taskerr.ValidationError ||
			!strings.Contains(problem.Message, "has data for eng") {
			t.Errorf("%q: %v", unknown, err)
		}
	}
}

// TestStraightens: a page that is askew reads as well as the straight one, its boxes are on the page as it was, and a
// straight page isn't touched.
func TestStraightens(t *testing.T) {
	t.Parallel()
	e := open(t, tesseract.Options{})
	straight := ocrtest.Scan(t, 0, letter()...)
	want, err := e.Read(t.Context(), straight)
	if err != nil {
		t.Fatal(err)
	}
	if want.Skew != 0 {
		t.Errorf("the straight page was rotated by %g°", want.Skew)
	}
	for _, degrees := range []float64{1.5, 3, -3} {
		tilt := ocr.NewTilt(straight, degrees)
		askew := tilt.Of(straight)
		got, err := e.Read(t.Context(), askew)
		if err != nil {
			t.Fatal(err)
		}
		if text(got.Clean()) != text(want.Clean()) {
			t.Errorf("%g°: %q", degrees, text(got.Clean()))
		}
		if got.Skew > -degrees+0.3 || got.Skew < -degrees-0.3 {
			t.Errorf("%g°: rotated by %g°", degrees, got.Skew)
		}
		for i, line := range got.Paragraphs[0] {
			a, b := tilt.Undo(line[0].Box), want.Paragraphs[0][i][0].Box
			if d := a.Left - b.Left; d > 0.01 || d < -0.01 {
				t.Errorf("%g°: line %d begins at %+v, not %+v", degrees, i+1, a, b)
			}
			if d := a.Top - b.Top; d > 0.01 || d < -0.01 {
				t.Errorf("%g°: line %d begins at %+v, not %+v", degrees, i+1, a, b)
			}
		}
	}
}

// TestReadsShadedCells: the words of a ruled table are read, also where its cells are gray. Those at the edge of the gray
// are doubtful.
func TestReadsShadedCells(t *testing.T) {
	t.Parallel()
	e := open(t, tesseract.Options{Languages: []string{"eng"}})
	img := ocrtest.Scan(t, 0, "Animal            Weight", "Elephant         Tonnes", "Harbour          Record", "Weather         Winter")
	const left, top, right, bottom, row = 180, 210, 820, 436, 56 // pixels
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			at := y*img.Stride + x
			if y < top+2*row {
				img.Pix[at] = uint8(int(img.Pix[at]) * 2 / 3)
			}
			if (y-top)%row < 3 || x < left+3 || x >= right-3 || x >= 430 && x < 433 {
				img.Pix[at] = 0
			}
		}
	}
	p, err := e.Read(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Weight", "Tonnes", "Harbour", "Record", "Weather", "Winter"} {
		if !strings.Contains(text(p.Clean()), word) {
			t.Errorf("without %q: %q", word, text(p.Clean()))
		}
	}
}
