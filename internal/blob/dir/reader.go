package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// reader is an open file that detects writes into the file (instead of replacing it).
type reader struct {
	*os.File
	ctx    context.Context //nolint:containedctx // as with the other back ends, the context given to Open ends the stream
	opened blob.Properties
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, fmt.Errorf("read blob %q: %w", r.opened.Name, context.Cause(r.ctx))
	}
	n, err := r.File.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		return n, trouble(fmt.Sprintf("read blob %q", r.opened.Name), err)
	}
	if now, err := properties(r.opened.Name, r.File); err != nil || now.ETag != r.opened.ETag {
		return n, fmt.Errorf("read blob %q: %w", r.opened.Name, blob.ErrChanged)
	}
	return n, io.EOF
}

// WriteTo hides the file's own WriteTo, which would bypass Read.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{r})
}

// contextReader ends a copy with its context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives for one call
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
