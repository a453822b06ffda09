package child_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// A program that fails on a full disk has not failed because of its document.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("SKIPPED: a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	for dir, full := range map[string]bool{disk: true, t.TempDir(): false} {
		r, err := child.Run(t.Context(), child.Command{
			Program: "sh", Args: []string{"-c", `head -c 1000000 /dev/zero > "$TMPDIR/x"; exit 3`}, Dir: dir,
		})
		if errors.Is(err, syscall.ENOSPC) != full || !full && (err != nil || r.ExitCode != 3) {
			t.Errorf("a full disk: %t: %+v, %v", full, r, err)
		}
	}
}
