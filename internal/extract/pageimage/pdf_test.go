package pageimage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

func TestFit(t *testing.T) {
	t.Parallel()
	const most = 20_000_000
	for _, c := range []struct {
		width, height      float64
		wanted, resolution int
		fits               bool
	}{
		{595, 842, 300, 300, true},
		{2384, 3370, 300, 112, true}, // A0
		{2384, 3370, 2000, 112, true},
		{1, 1, 300, 300, true},
		{4294967295, 1, 300, 1, false}, // a pixel is as high as it is wide
		{1e6, 0.001, 300, 300, true},
		{1e9, 0.001, 300, 1, true},
		{1e6, 1e6, 300, 1, false},
		{595, 842, 0, 1, true},
	} {
		resolution, pixels := fit(About{Width: c.width, Height: c.height}, c.wanted, most)
		if resolution != c.resolution || (pixels <= most) != c.fits {
			t.Errorf("%g by %g points, %d wanted: %d dpi, %.0f pixels; want %d, fits %v", c.width, c.height, c.wanted,
				resolution, pixels, c.resolution, c.fits)
		}
	}
}

// A page of 470 bytes that is 60,000 km wide made pdftoppm take 464 MB, because its area had few pixels.
func TestAPageThatIsAllWidth(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "pdftotext")
	path := filepath.Join(t.TempDir(), "wide.pdf")
	text := "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count " +
		"1>>\nendobj\n" +
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 4294967296 1]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const most = 20_000_000
	r := PDF{Path: path, MaxPixels: most, Limits: ProgramLimits(30*time.Second, 1<<30, most)}
	about, err := r.Look(t.Context(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Render(t.Context(), 1, about, 300); err == nil ||
		!strings.Contains(err.Error(), "at any resolution") {
		t.Errorf("it is drawn: %v", err)
	}
}
