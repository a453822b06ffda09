package pageimage_test

import (
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestHEIC(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("heif-enc"); err != nil {
		t.Skip("heif-enc is not installed; install libheif-examples")
	}
	dir := t.TempDir()
	picture := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range picture.Pix[64*32:] {
		picture.Pix[64*32+i] = 255
	}
	in, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "out.heic")
	file, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, picture), file.Close()); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "heif-enc", in, "-o", out).CombinedOutput(); err != nil {
		t.Skipf("no encoder: %v: %s", err, said)
	}
	temp := t.TempDir()
	images, err := pageimage.OpenImages(t.Context(), out, temp, 10, child.NewPool(768<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer images.Close()
	img, err := images.Decode(t.Context(), 1, pageimage.Size{Side: 64})
	if err != nil || img.GrayAt(20, 10).Y > 20 || img.GrayAt(20, 50).Y < 235 {
		t.Errorf("%v", err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = pageimage.OpenImages(t.Context(), out, temp, 10, nil)
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.CorruptionDetected ||
		!strings.Contains(e.Message, "damaged") {
		t.Errorf("cut off: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
	_, err = pageimage.OpenImages(t.Context(), out, filepath.Join(temp, "missing"), 10, nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the image is not converted in the folder for temporary files: %v", err)
	}
}
