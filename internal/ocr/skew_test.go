package ocr_test

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

// TestSkew: the angle of a page is measured to a tenth or two of a degree, and a straight one has none.
func TestSkew(t *testing.T) {
	t.Parallel()
	few := []string{
		"The harbour master keeps a record of every ship that",
		"enters or leaves the port, with the hour, the weather and",
		"the name of its captain. In winter few ships come, and",
		"the book lies open on the same page for many days.",
	}
	if got := ocr.Skew(ocrtest.Scan(t, 0, few...).Gray); got != 0 {
		t.Errorf("stems of letters above each other are not lines: %g", got)
	}
	lines := []string{
		"The harbour master keeps a record of every ship that enters", "or leaves the port, with the hour and the weather,",
		"and the name of its captain. In winter few ships come.", "The book lies open on the same page for many days.",
	}
	for rotation := range ocr.Rotation(4) {
		straight := ocrtest.Scan(t, rotation, lines...)
		if got := ocr.Skew(straight.Gray); got != 0 {
			t.Errorf("a straight page, turned by %d°: %g", rotation.Degrees(), got)
		}
		angles := []float64{-4, -1.5, 0.8, 1.5, 3}
		if rotation > 0 {
			angles = []float64{-1.5, 3} // one to each side: looking at a page's every pixel takes a second
		}
		for _, degrees := range angles {
			askew := ocr.NewTilt(straight, degrees).Of(straight)
			if got := ocr.Skew(askew.Gray); math.Abs(got+degrees) > 0.2 {
				t.Errorf("turned by %d° and %g°: %g", rotation.Degrees(), degrees, got)
			}
		}
	}
}

// TestSkewOfPictures: what has no lines isn't turned.
func TestSkewOfPictures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	noise := ocrtest.Blank()
	for range 40_000 {
		noise.Pix[r.IntN(len(noise.Pix))] = 0
	}
	shade := ocrtest.Blank()
	for i := range shade.Pix {
		shade.Pix[i] = uint8(i * 255 / len(shade.Pix))
	}
	for name, img := range map[string]*image.Gray{
		"blank": ocrtest.Blank().Gray, "noise": noise.Gray, "shade": shade.Gray,
		"empty": image.NewGray(image.Rect(0, 0, 0, 0)), "pixel": image.NewGray(image.Rect(0, 0, 1, 1)),
		"strip": image.NewGray(image.Rect(0, 0, 3, 9000)),
	} {
		if got := ocr.Skew(img); got != 0 {
			t.Errorf("%s: %g", name, got)
		}
	}
}

// TestTiltUndo: what is found on the rotated image is where it was.
func TestTiltUndo(t *testing.T) {
	t.Parallel()
	img := ocrtest.Blank()
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	for y := range 12 {
		for x := range 12 {
			img.Pix[(400+y)*img.Stride+300+x] = 0
		}
	}
	tilt := ocr.NewTilt(img, 3)
	out := tilt.Of(img)
	found := image.Rectangle{}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			if out.Pix[y*out.Stride+x] < 128 {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	ow, oh := float64(out.Rect.Dx()), float64(out.Rect.Dy())
	b := tilt.Undo(ocr.Box{
		Left: float64(found.Min.X) / ow, Top: float64(found.Min.Y) / oh,
		Right: float64(found.Max.X) / ow, Bottom: float64(found.Max.Y) / oh,
	})
	if x, y := (b.Left+b.Right)/2*w, (b.Top+b.Bottom)/2*h; math.Abs(x-306) > 1 || math.Abs(y-406) > 1 {
		t.Errorf("the middle is at %g, %g", x, y)
	}
}
