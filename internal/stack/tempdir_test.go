package stack

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestTempDir: the sweep knows its own folders by their owner file, whatever they are called, and leaves those alone whose
// owner lives; a link in its place, and folders without it, are others'.
func TestTempDir(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	d, err := NewTempDir(parent, "a-")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "file")
	err = errors.Join(os.Mkdir(filepath.Join(parent, "async-worker-others"), 0o700), os.WriteFile(elsewhere, nil, 0o600),
		os.Mkdir(filepath.Join(parent, "linked"), 0o700), os.Symlink(elsewhere, filepath.Join(parent, "linked", ownerFile)),
		os.Mkdir(filepath.Join(parent, "left"), 0o700), os.WriteFile(filepath.Join(parent, "left", ownerFile), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	removeAbandoned(parent, 0)
	want := []string{d.Path, filepath.Join(parent, "async-worker-others"), filepath.Join(parent, "linked")}
	if left, err := filepath.Glob(filepath.Join(parent, "*")); err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, %v", left, err)
	}
	if err := d.owner.Close(); err != nil { // as the kernel does when the process is killed
		t.Fatal(err)
	}
	if removeAbandoned(parent, time.Hour); !exists(d.Path) {
		t.Error("a folder that was just made was removed: its lock may not be taken yet")
	}
	if removeAbandoned(parent, 0); exists(d.Path) {
		t.Error("the folder of a process that was killed is still there")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestNewTempDirSweeps: the folders of the usual temporary folder are collected, too, not those in memory alone.
func TestNewTempDirSweeps(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	left := abandon(t, parent)
	d, err := NewTempDir(parent, "a-")
	if err != nil {
		t.Fatal(err)
	}
	if exists(left) {
		t.Errorf("%s is still there", left)
	}
	if err := d.Remove(); err != nil || exists(d.Path) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestMemoryFolder: what is left in memory is removed, also where that leaves too little room.
func TestMemoryFolder(t *testing.T) {
	t.Parallel()
	for _, needed := range []uint64{0, math.MaxUint64} {
		parent := t.TempDir()
		left, want := abandon(t, parent), parent
		if needed > 0 {
			want = ""
		}
		if got := memoryFolder(parent, needed); got != want {
			t.Errorf("with %d bytes needed the folder is %q, want %q", needed, got, want)
		}
		if exists(left) {
			t.Errorf("with %d bytes needed %s is still there", needed, left)
		}
	}
}

// abandon makes what a process leaves behind that was killed hours ago.
func abandon(t *testing.T, parent string) (folder string) {
	t.Helper()
	folder = filepath.Join(parent, "left")
	owner, old := filepath.Join(folder, ownerFile), time.Now().Add(-2*settled)
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(owner, nil, 0o600), os.Chtimes(owner, old, old)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestRemoveStopped: of the clusters without an owner file those stay whose server runs, or that were just begun.
func TestRemoveStopped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		pid string
		at  time.Time
	}{
		"gone": {"999999999\n", old}, "stopped": {"", old}, "new": {"", time.Now()},
		"running": {strconv.Itoa(os.Getpid()) + "\nmore", old},
	} {
		cluster := filepath.Join(folder, postgresPrefix+name)
		if err := os.MkdirAll(filepath.Join(cluster, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if c.pid != "" {
			if err := os.WriteFile(filepath.Join(cluster, "data", "postmaster.pid"), []byte(c.pid), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(cluster, c.at, c.at); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(folder, time.Hour)
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	want := []string{filepath.Join(folder, postgresPrefix+"new"), filepath.Join(folder, postgresPrefix+"running")}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, %v", left, err)
	}
}
