package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// fetched is a blob's content in a private folder.
type fetched struct {
	dir    string
	path   string
	size   int64
	sha256 string // hex
	etag   string
}

func (f *fetched) remove() { _ = os.RemoveAll(f.dir) } // a leftover is in TempDir, which the service's end clears

// fetch streams the blob to disk, never holding it in memory, and hashes it on the way.
func (h *Handler) fetch(ctx context.Context, c handlers.Call, name string) (*fetched, error) {
	props, body, err := h.deps.Bucket.Open(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, job.Errorf(job.ContentMissing, "the blob %q is not in the tenant's container; upload it and send the task again", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open the blob: %w", err)
	}
	defer body.Close()
	if props.Size > h.deps.Limits.Bytes {
		return nil, tooLarge(h.deps.Limits.Bytes)
	}
	dir, err := os.MkdirTemp(h.deps.TempDir, "ingest-")
	if err != nil {
		return nil, noRoom(err)
	}
	f := &fetched{dir: dir, path: filepath.Join(dir, "source"), etag: props.ETag}
	if err := f.write(body, h.deps.Limits.Bytes, func(n int64) {
		c.Progress.Within(float64(n)/float64(max(props.Size, 1)), "")
	}); err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

func (f *fetched) write(body io.Reader, limit int64, progress func(int64)) error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return noRoom(err)
	}
	defer file.Close()
	sum := sha256.New()
	counted := &counting{Writer: io.MultiWriter(file, sum), progress: progress}
	f.size, err = io.Copy(counted, io.LimitReader(body, limit+1))
	switch {
	case errors.Is(err, blob.ErrChanged):
		return job.Errorf(job.TransientStorage, "the blob was overwritten while it was read: %w", err)
	case counted.failed != nil:
		return noRoom(counted.failed)
	case err != nil:
		return fmt.Errorf("read the blob: %w", err)
	case f.size > limit:
		return tooLarge(limit)
	}
	if err := file.Close(); err != nil {
		return noRoom(err)
	}
	f.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// counting reports how much was written, and remembers a failure to write apart from one to read.
type counting struct {
	io.Writer
	progress func(int64)
	n        int64
	failed   error
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n, c.failed = c.n+int64(n), err
	c.progress(c.n)
	return n, err
}

func tooLarge(limit int64) error {
	return job.Errorf(job.QuotaExceeded, "the document is larger than the limit of %d MB (MAX_BLOB_MB)", limit>>20)
}

func noRoom(err error) error {
	return job.Errorf(job.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w", err)
}
