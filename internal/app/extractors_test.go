package app

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
)

// zipOf writes an archive with one file.
func zipOf(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "files.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	inner, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inner.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The readers of PDFs and images are opened when there is one to read, also in another document, and not before.
func TestReadersAreOpenedWhenNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		want          bool
	}{{"notes.txt", "Some words.", false}, {"scan.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", true}} {
		opened := false
		d := deferred{func() extract.Extractor {
			opened = true
			return scan.ImagesWithout(errors.New("there is no OCR"))
		}}
		src, err := extract.Open(zipOf(t, c.name, c.content), "files.zip")
		if err != nil {
			t.Fatal(err)
		}
		_, err = extract.Collect(t.Context(), extract.NewRouter(native.Extractors(d, d)), src, extract.DefaultLimits)
		if opened != c.want {
			t.Errorf("an archive with %s: opened: %v, want %v (%v)", c.name, opened, c.want, err)
		}
	}
}
