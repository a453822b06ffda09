package app

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A machine lacks something when its disk has no room, or no file can be opened.
func TestMachineProbe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	probe := machineProbe(folder, "")
	if err := probe(t.Context()); err != nil {
		t.Errorf("a sound machine: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := machineProbe(filepath.Join(folder, "missing"), "")(t.Context()); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("without a folder: %v", err)
	}
	// Nothing can be written to this device, as to a full disk.
	if err := os.Symlink("/dev/full", filepath.Join(folder, "probe")); err != nil {
		t.Fatal(err)
	}
	if err := probe(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}

// Results are written to the folder of the blobs, whose disk may be another one. One that became read-only has room.
func TestMachineProbeOfTheBlobs(t *testing.T) {
	t.Parallel()
	blobs := filepath.Join(t.TempDir(), "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", blobs, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("SKIPPED: a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(blobs, 0); err != nil {
			t.Error(err)
		}
	})
	probe := machineProbe(t.TempDir(), blobs)
	if err := probe(t.Context()); err != nil {
		t.Errorf("with room: %v", err)
	}
	if err := os.WriteFile(filepath.Join(blobs, "large"), make([]byte, 6<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := probe(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if err := os.Remove(filepath.Join(blobs, "large")); err != nil {
		t.Fatal(err)
	}
	if err := probe(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := syscall.Mount("", blobs, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := probe(t.Context()); !errors.Is(err, syscall.EROFS) || !taskerr.Exhausted(err) {
		t.Errorf("read-only: %v", err)
	}
	if !readOnly(t.Context(), blobs) {
		t.Error("a folder that is read-only at the start counts as one that may be written again")
	}
	if err := machineProbe(t.TempDir(), "")(t.Context()); err != nil {
		t.Errorf("without it: %v", err)
	}
	if err := syscall.Mount("", blobs, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if readOnly(t.Context(), blobs) {
		t.Error("a folder that can be written counts as read-only")
	}
}
