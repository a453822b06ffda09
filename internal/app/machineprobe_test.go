package app

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A machine lacks something when its disk has no room, or no file can be opened.
func TestMachineProbe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	probe := machineProbe(folder)
	if err := probe(t.Context()); err != nil {
		t.Errorf("a sound machine: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := machineProbe(filepath.Join(folder, "missing"))(t.Context()); !errors.Is(err, syscall.ENOENT) {
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
