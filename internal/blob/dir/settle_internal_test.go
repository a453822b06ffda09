package dir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/disk"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A blob has its name, and then the folders on the way to it are synced, before the call returns. If they can't be, the
// call fails.
func TestNamesAreDurable(t *testing.T) {
	t.Parallel()
	type put = func(context.Context, string, io.Reader, string) (blob.Properties, error)
	b := New(t.TempDir())
	var synced []string
	const name = "results/job/page.txt"
	b.sync = func(root *os.Root, folder string) error {
		if _, err := root.Stat(name); err != nil {
			t.Errorf("%s is synced before the blob has its name: %v", folder, err)
		}
		synced = append(synced, folder)
		return disk.Sync(root, folder)
	}
	for kind, write := range map[string]put{"put": b.Put, "put new": b.PutNew} {
		synced = nil
		if _, err := write(t.Context(), name, strings.NewReader("x"), ""); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if want := []string{"results/job", "results", "."}; !slices.Equal(synced, want) {
			t.Errorf("%s: synced %q, want %q", kind, synced, want)
		}
		if err := b.Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.sync = func(*os.Root, string) error { return &fs.PathError{Op: "sync", Path: ".", Err: syscall.EIO} }
	_, err := b.Put(t.Context(), name, strings.NewReader("x"), "")
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage {
		t.Errorf("a disk that fails: %v", err)
	}
}
