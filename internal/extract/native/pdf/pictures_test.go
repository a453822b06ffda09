package pdf

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// Images over each other count once, and thin strips of a scan together.
func TestPictures(t *testing.T) {
	t.Parallel()
	strips := make([]content.Box, 800)
	for i := range strips {
		strips[i] = content.Box{Top: float64(i), Right: 600, Bottom: float64(i + 1)}
	}
	half := content.Box{Right: 300, Bottom: 800}
	for name, c := range map[string]struct {
		images []content.Box
		want   float64
	}{
		"none":           {nil, 0},
		"strips":         {strips, 1},
		"half the page":  {[]content.Box{half}, 0.5},
		"the same twice": {[]content.Box{half, half}, 0.5},
		"logos":          {[]content.Box{{Left: 10, Top: 10, Right: 14, Bottom: 14}}, 0},
	} {
		if got := coveredBy(c.images, 600, 800); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
