package child_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Only a program's own files are opened: a link would be followed with the worker's rights, and a pipe has no end.
func TestOpenMade(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "work")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "folder"), 0o700),
		os.WriteFile(filepath.Join(base, "secret"), []byte("key"), 0o600),
		os.WriteFile(filepath.Join(dir, "made"), []byte("picture"), 0o600),
		os.Symlink(filepath.Join(base, "secret"), filepath.Join(dir, "link")),
		os.Symlink(base, filepath.Join(dir, "up")),
		os.Symlink("made", filepath.Join(dir, "within")),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{
		"made": nil, "link": child.ErrNotMade, "within": child.ErrNotMade, "pipe": child.ErrNotMade, "folder": child.ErrNotMade,
		"missing": fs.ErrNotExist,
	} {
		file, err := child.OpenMade(dir, name)
		if err == nil {
			content, readErr := io.ReadAll(file)
			if err := errors.Join(readErr, file.Close()); err != nil || string(content) != "picture" {
				t.Errorf("%s: %q, %v", name, content, err)
			}
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	for _, name := range []string{"up/secret", "../secret"} {
		if _, err := child.OpenMade(dir, name); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}
