package native_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestBombs: each bomb is refused with its own error sentence. `make bench ONLY=bombs` measures the time.
func TestBombs(t *testing.T) {
	t.Parallel()
	router := extract.NewRouter(native.Extractors(nil, nil))
	for _, bomb := range nativetest.Bombs() {
		t.Run(bomb.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), bomb.Name)
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(bomb.Write(file), file.Close()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			src, err := extract.Open(path, bomb.Name)
			if err == nil {
				_, err = router.Extract(t.Context(), src, extract.Limits{}, func(extract.Block) error { return nil })
			}
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != bomb.Class || !strings.Contains(e.Message, bomb.Message) {
				t.Errorf("%d KB: got %v, want %s that says %q", src.Size>>10, err, bomb.Class, bomb.Message)
			}
			t.Logf("%v: %v", time.Since(began).Round(time.Millisecond), err)
		})
	}
}
