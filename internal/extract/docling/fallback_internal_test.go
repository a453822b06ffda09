package docling

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
)

// TestFallbackWarning: the same task sent again would be a duplicate, so the warning asks for another id.
func TestFallbackWarning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(path, []byte("A text."), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fallback{native: markdown.New(), outages: NewOutages(slog.New(slog.DiscardHandler))}
	info, err := f.natively(t.Context(), extract.Source{Path: path}, extract.Limits{}, func(extract.Block) error { return nil }, "is down")
	if err != nil || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "send it again under a new task_id") {
		t.Errorf("%q %v", info.Warnings, err)
	}
}
