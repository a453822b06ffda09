package dir_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/blobtest"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket { return dir.New(filepath.Join(t.TempDir(), "container")) })
}

func TestNothingLeadsOutOfTheFolder(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	folder := t.TempDir()
	for _, err := range []error{
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(folder, "link.txt")),
		os.Symlink(filepath.Dir(outside), filepath.Join(folder, "folder")),
		syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := dir.New(folder)
	up, err := filepath.Rel(folder, outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link.txt", "folder/secret.txt", "pipe", up, "a/../" + up, outside} {
		if _, r, err := b.Open(t.Context(), name); err == nil {
			_ = r.Close()
			t.Errorf("%s could be opened", name)
		} else if e, ok := errors.AsType[*taskerr.Error](err); !errors.Is(err, blob.ErrNotFound) &&
			(!ok || e.Class != taskerr.ValidationError) {
			t.Errorf("%s: got %v, want a validation error", name, err)
		}
	}
	if _, err := b.Put(t.Context(), "folder/new.txt", strings.NewReader("x"), ""); err == nil {
		t.Error("a file could be written through a link")
	}
}

func TestAFileThatIsWrittenIntoHasChanged(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "a.txt")
	if err := os.WriteFile(file, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, r, err := dir.New(folder).Open(t.Context(), "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

func TestAFailedWriteLeavesNoFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b := dir.New(folder)
	if _, err := b.Put(t.Context(), "a.txt", io.MultiReader(strings.NewReader("x"), &failing{}), ""); err == nil {
		t.Fatal("no error")
	}
	left, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

// A folder that is gone, as a mount may be, is an outage of the storage and not the fault of a task.
func TestAFolderThatIsGoneIsAnOutage(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "blobs")
	b := dir.New(folder)
	_, put := b.Put(t.Context(), "a.txt", strings.NewReader("x"), "")
	_, stat := b.Stat(t.Context(), "probe")
	var list error
	for _, err := range b.List(t.Context(), "") {
		list = err
	}
	for _, err := range []error{put, stat, list, b.TryWrite(t.Context(), 1)} {
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Dependency != taskerr.Storage ||
			!taskerr.Classes[e.Class].Retryable || !strings.Contains(e.Hint, "BLOB_DIR") {
			t.Errorf("got %#v, want an outage of the storage that names the setting", err)
		}
	}
	if err := errors.Join(b.Ensure(t.Context()), b.TryWrite(t.Context(), 1<<20)); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(filepath.Join(folder, ".unfinished-uploads"))
	if err != nil || len(left) > 0 {
		t.Errorf("the trial left %v, %v", left, err)
	}
}
