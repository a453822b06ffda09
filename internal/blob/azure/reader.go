package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// reader is the stream of one ETag: the SDK's RetryReader resumes it where it broke off, with If-Match, so that the
// bytes of two versions never mix.
type reader struct {
	ctx    context.Context //nolint:containedctx // the one given to Open ends the stream
	bucket *Bucket
	name   string
	size   int64
	read   int64
	stream *sdk.RetryReader
	watch  *time.Timer // closes a stalled connection, so that the RetryReader opens a new one
	closed atomic.Bool
}

func newReader(ctx context.Context, b *Bucket, name string, size int64, stream *sdk.RetryReader) *reader {
	r := &reader{ctx: ctx, bucket: b, name: name, size: size, stream: stream}
	r.watch = time.AfterFunc(b.stall, func() { _ = stream.Close() })
	r.watch.Stop()
	return r
}

// Read implements io.Reader. It gives up a connection that brings no data for the bucket's stall time; the time between
// two reads doesn't count.
func (r *reader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, fmt.Errorf("read blob %q: it is closed", r.name)
	}
	if r.ctx.Err() != nil { // buffered data must not be returned after the context's end
		return 0, r.bucket.explain(fmt.Sprintf("read blob %q in", r.name), context.Cause(r.ctx))
	}
	r.watch.Reset(r.bucket.stall)
	n, err := r.stream.Read(p)
	r.watch.Stop()
	r.read += int64(n)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && r.read == r.size:
		return n, io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	err = r.bucket.explain(fmt.Sprintf("read blob %q in", r.name), err)
	if errors.Is(err, blob.ErrNotFound) {
		err = fmt.Errorf("read blob %q: it was deleted meanwhile: %w", r.name, blob.ErrChanged)
	}
	return n, err
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.watch.Stop()
	return r.stream.Close()
}

// countingReader counts the bytes of a body and remembers its error.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
