package object_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// The addresses of links in encrypted files are decrypted: of annotations that are objects and of those within the page,
// in streams of objects or not. The files were encrypted by qpdf, for the empty password.
func TestLinksOfEncryptedFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/links/*.pdf")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := object.Open(t.Context(), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		p, ok := f.Pages()()
		if !ok {
			t.Fatalf("%s has no page", path)
		}
		links := f.Links(p)
		if len(links) != 2 || links[0].Address != "https://own.example/a" || links[1].Address != "https://inline.example/b" {
			t.Errorf("%s: %+v", path, links)
		}
	}
}
