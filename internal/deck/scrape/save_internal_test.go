package scrape

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// A document that has taken pdfimages over gets no file of the worker's: a link is not followed, and nothing is copied.
func TestSaveFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	secret := filepath.Join(t.TempDir(), "SUPABASE_KEY")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"p-000.png": secret, "p-001.png": "/dev/zero", "p-002.png": filepath.Dir(secret)} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if p, err := save(t.Context(), dir, name, folder); err != nil || p.Key != "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if copied, err := os.ReadDir(folder); err != nil || len(copied) > 0 {
		t.Errorf("%v, %v", copied, err)
	}
	file, err := os.Create(filepath.Join(dir, "p-003.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := png.Encode(file, image.NewGray(image.Rect(0, 0, 2, 3))); err != nil {
		t.Fatal(err)
	}
	if p, err := save(t.Context(), dir, "p-003.png", folder); err != nil || p.Media.Type != "image/png" || p.Media.Height != 3 {
		t.Errorf("%+v, %v", p, err)
	}
}
