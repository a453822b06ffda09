package nativetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Refusal is content that must be refused with an error of a class and a message.
type Refusal struct {
	What    string
	Content []byte
	Limits  extract.Limits
	Class   taskerr.Class
	Message string
}

// RefusesAll runs Refuses on each in a subtest.
func RefusesAll(t *testing.T, e extract.Extractor, format extract.Format, all []Refusal) {
	t.Helper()
	for _, r := range all {
		t.Run(r.What, func(t *testing.T) {
			t.Parallel()
			Refuses(t, e, format, r.Content, r.Limits, r.Class, r.Message)
		})
	}
}

// Refuses checks that the content is refused with an error of the class with the message.
func Refuses(
	t testing.TB, e extract.Extractor, format extract.Format, content []byte, limits extract.Limits,
	class taskerr.Class, message string,
) {
	t.Helper()
	_, err := Extract(t, e, format, content, limits)
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != class ||
		!strings.Contains(got.Message, message) {
		t.Errorf("got %v; want %s that says %q", err, class, message)
	}
}

// CountsHeldText takes content of more than 100 characters, none of which is emitted before the last is read,
// and checks that it exceeds a limit of 100: text counts as soon as it is held in memory.
func CountsHeldText(t *testing.T, e extract.Extractor, content []byte) {
	t.Helper()
	err := bare(t, t.Context(), e, content, extract.Limits{Characters: 100})
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.QuotaExceeded {
		t.Errorf("got %v", err)
	}
}

// Stops checks that an extraction whose context is done fails with its cause before any block.
func Stops(t *testing.T, e extract.Extractor, content []byte) {
	t.Helper()
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := bare(t, ctx, e, content, extract.Limits{}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// bare runs the extractor alone, without the Router's checks, and expects no blocks.
func bare(t *testing.T, ctx context.Context, e extract.Extractor, content []byte, limits extract.Limits) error { //nolint:revive // t comes first in helpers
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := e.Extract(ctx, extract.Source{Path: path}, limits, func(b extract.Block) error {
		t.Errorf("emitted %d bytes", len(b.Text))
		return nil
	})
	return err
}
