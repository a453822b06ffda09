package convert

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
)

// TestSlidesWithoutPreview: slides whose pages are not drawn, because there are too many, are counted in a warning.
func TestSlidesWithoutPreview(t *testing.T) {
	t.Parallel()
	data, key := decktest.Picture(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, key), data, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &work{Handler: New(Deps{Fonts: fonts.New()}), call: handlers.Call{Progress: &handlertest.Progress{}}, media: dir}
	printed, err := w.print(t.Context(), decktest.Sample(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	printed.Pages = append(printed.Pages, 9000)
	p, err := w.draw(t.Context(), printed, t.TempDir(), filepath.Join(dir, "sheet.png"))
	if err != nil || len(p.slides) != 4 || !slices.Equal(w.warnings, []string{"only the first 4 of 5 slides have a preview"}) {
		t.Errorf("%d pictures, warnings %q, %v", len(p.slides), w.warnings, err)
	}
}
