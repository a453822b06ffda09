package pageimage_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func write(t *testing.T, f nativetest.Costly) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x"+filepath.Ext(f.Name))
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCostOfDecoding: for each format, the memory reserved from the pool is at least what decoding allocates,
// even without any garbage collection in between.
func TestCostOfDecoding(t *testing.T) { // not parallel: it counts the allocations of the process
	for _, f := range nativetest.CostlyPictures(1400, 1000) { // a byte per pixel is more than the slack below
		t.Run(f.Name, func(t *testing.T) {
			path := write(t, f)
			pool := child.NewPool(1 << 30)
			images, err := pageimage.OpenImages(t.Context(), path, "", 1, pool)
			if err != nil {
				t.Fatal(err)
			}
			defer images.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			img, err := images.Decode(t.Context(), 1, pageimage.Size{})
			runtime.ReadMemStats(&after)
			if err != nil || img.Rect.Empty() {
				t.Fatal(img.Rect, err)
			}
			allocated := int64(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%d KB allocated, %d KB taken", allocated>>10, pool.Most()>>10)
			if raceDetector { // the race detector allocates growing buffers twice
				allocated /= 2
			}
			if allocated > pool.Most()+1<<20 { // allocations that are not part of an image
				t.Errorf("decoding allocated %d KB, and %d KB were taken for it", allocated>>10, pool.Most()>>10)
			}
		})
	}
}

// TestCostlyPicturesAreRefused: images of 40 million pixels that exceed the memory are rejected by their
// header, without allocations.
func TestCostlyPicturesAreRefused(t *testing.T) {
	pool := child.NewPool(384 << 20)
	for _, f := range nativetest.CostlyPictures(8000, 4999) {
		switch f.Name {
		case "palette.png", "frame.gif", "gray.png", "gray with a transparent level.png", "colors.png", "colors.bmp":
			continue // these fit
		}
		t.Run(f.Name, func(t *testing.T) {
			images, err := pageimage.OpenImages(t.Context(), write(t, f), "", 1, pool)
			if err != nil {
				t.Fatal(err)
			}
			defer images.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = images.Decode(t.Context(), 1, pageimage.Size{})
			runtime.ReadMemStats(&after)
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != taskerr.QuotaExceeded {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(e.Message, "to decode") && !strings.Contains(e.Message, "million") {
				t.Errorf("it doesn't say why: %s", e.Message)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
				t.Errorf("%d KB were allocated for it", n>>10)
			}
		})
	}
}
