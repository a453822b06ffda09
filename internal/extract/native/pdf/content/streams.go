package content

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// streams reads streams one after the other, with a line break after each. It opens each when the one before it has
// ended.
type streams struct {
	file *object.File
	left []*object.Stream
	open io.Reader
}

func (s *streams) Read(p []byte) (int, error) {
	for {
		if s.open == nil {
			if len(s.left) == 0 {
				return 0, io.EOF
			}
			r, err := s.file.Reader(s.left[0])
			if s.left = s.left[1:]; err != nil {
				continue
			}
			s.open = io.MultiReader(r, strings.NewReader("\n"))
		}
		n, err := s.open.Read(p)
		if errors.Is(err, io.EOF) {
			s.open, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// whileRunning reads until ctx ends: a stream may go on for long without an operator.
type whileRunning struct {
	ctx context.Context //nolint:containedctx // of one call of Read
	io.Reader
}

func (w *whileRunning) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.Reader.Read(p)
}
