package app

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m, func() error { return goleak.Find() }) }

// A killed worker can't clean up; the next one of the instance does, and removes nothing else.
func TestSweepTemp(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	for _, name := range []string{tempPrefix + "123/ingest-1", "other"} {
		if err := os.MkdirAll(filepath.Join(cache, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tenant := &Tenant{Config: config.Config{CacheDir: cache}, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	tenant.sweepTemp()
	left, err := os.ReadDir(cache)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left are %v, %v", left, err)
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
