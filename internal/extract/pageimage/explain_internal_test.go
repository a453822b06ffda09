package pageimage

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// An image is not damaged because the disk is full.
func TestExplain(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]taskerr.Class{
		syscall.ENOSPC: taskerr.TransientStorage, syscall.EMFILE: taskerr.TransientStorage,
		syscall.EIO: taskerr.TransientStorage, io.ErrUnexpectedEOF: taskerr.CorruptionDetected,
	} {
		err := explain(t.Context(), fmt.Errorf("make a folder for an image: %w", cause))
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != want {
			t.Errorf("%v: %v, want %s", cause, err, want)
		}
	}
}
