package app

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// A killed worker can't clean up; the next one of the instance does, and removes nothing else: neither the folder of
// another worker, as there may be on a volume, nor one that another is making.
func TestSweepTemp(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	hourAgo := time.Now().Add(-time.Hour)
	for name, made := range map[string]time.Time{
		tempPrefix + "cut/ingest-1": hourAgo, tempPrefix + "new": time.Now(), "other": hourAgo,
	} {
		path := filepath.Join(cache, name)
		if err := errors.Join(os.MkdirAll(path, 0o700), os.Chtimes(filepath.Join(cache, strings.Split(name, "/")[0]), made, made)); err != nil {
			t.Fatal(err)
		}
	}
	alive, aliveErr := newTempDir(cache)
	killed, killedErr := newTempDir(cache)
	if err := errors.Join(aliveErr, killedErr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = alive.lock.Close() }) // its folder is the test's
	if err := killed.lock.Close(); err != nil {  // as the kernel does
		t.Fatal(err)
	}
	tenant := &Tenant{Config: config.Config{CacheDir: cache}, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	tenant.sweepTemp()
	entries, err := os.ReadDir(cache)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(alive.path), tempPrefix + "new", "other"}
	if slices.Sort(want); err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, %v, want %v", left, err, want)
	}
}

// In a shared folder, the lock tells a killed worker's files from those in use.
func TestSweepSharedTemp(t *testing.T) {
	shared := t.TempDir()
	t.Setenv("TMPDIR", shared)
	alive, err := newTempDir("")
	if err != nil {
		t.Fatal(err)
	}
	killed, err := newTempDir("")
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	for _, name := range []string{tempPrefix + "postgres-1", "child-1"} { // not the worker's
		if err := os.Mkdir(filepath.Join(shared, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tenant := &Tenant{log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	tenant.sweepTemp()
	left, err := os.ReadDir(shared)
	if err != nil || len(left) != 3 {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := os.Stat(killed.path); !os.IsNotExist(err) {
		t.Errorf("the killed worker's folder still exists: %v", err)
	}
	if err := alive.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(alive.path); !os.IsNotExist(err) {
		t.Errorf("the folder of a worker that has ended still exists: %v", err)
	}
}
