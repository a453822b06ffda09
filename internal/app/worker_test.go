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

// A worker that was killed could not clean up; the next one of the instance does, and touches nothing else.
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
