package source_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	bucket, temp := dir.New(t.TempDir()), t.TempDir()
	if err := bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.Put(t.Context(), "in/a.txt", strings.NewReader("hello"), ""); err != nil {
		t.Fatal(err)
	}
	done := 0.0
	o := source.Options{TempDir: temp, Bytes: 5, Progress: func(f float64) { done = f }}
	fetcher := source.Fetcher{Bucket: bucket}
	f, err := fetcher.Fetch(t.Context(), source.Place{Blob: "in/a.txt"}, o)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(f.Path)
	if err != nil || string(content) != "hello" || f.Size != 5 || done != 1 || f.ETag == "" ||
		f.SHA256 != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("%q %+v %g %v", content, f, done, err)
	}
	if f.Name != "in/a.txt" {
		t.Errorf("its name is %q", f.Name)
	}
	o.Known = f.Version
	if _, err := fetcher.Fetch(t.Context(), source.Place{Blob: "in/a.txt"}, o); !errors.Is(err, source.ErrUnchanged) {
		t.Errorf("the known version: %v", err)
	}
	o.Known = source.Version{}
	f.Remove()
	o.Bytes = 4
	for name, class := range map[string]taskerr.Class{
		"in/a.txt": taskerr.QuotaExceeded,
		"in/b.txt": taskerr.ContentMissing,
	} {
		if _, err := fetcher.Fetch(t.Context(), source.Place{Blob: name}, o); err == nil || taskerr.Classify(err).Class != class {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.TempDir = temp + "/gone"
	o.Bytes = 5
	if _, err := fetcher.Fetch(t.Context(), source.Place{Blob: "in/a.txt"}, o); !errors.Is(err, os.ErrNotExist) ||
		taskerr.Classify(err).Class != taskerr.TransientStorage {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
