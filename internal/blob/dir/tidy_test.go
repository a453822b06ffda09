package dir_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
)

// TestAbandonedUploads: what killed processes left among the uploads in progress is removed after a day, but neither an
// upload that may still be in progress nor a blob.
func TestAbandonedUploads(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	uploads := filepath.Join(folder, ".unfinished-uploads")
	if err := os.Mkdir(uploads, 0o750); err != nil {
		t.Fatal(err)
	}
	write := func(path string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(uploads, "cut"), 25*time.Hour)
	write(filepath.Join(uploads, "running"), 23*time.Hour)
	write(filepath.Join(folder, "a.txt"), 25*time.Hour) // written by a PutNew that was killed after the link
	if err := os.Link(filepath.Join(folder, "a.txt"), filepath.Join(uploads, "linked")); err != nil {
		t.Fatal(err)
	}
	b := dir.New(folder)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(uploads)
	if err != nil || len(left) != 1 || left[0].Name() != "running" {
		t.Errorf("left %v, %v; want the upload of a day that is not over", left, err)
	}
	if _, err := b.Stat(t.Context(), "a.txt"); err != nil {
		t.Errorf("the blob: %v", err)
	}
}
