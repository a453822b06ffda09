// Package source downloads a task's blob to a private file on this machine.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// File is a blob's content in a private folder. Remove it at the end.
type File struct {
	Dir    string // for other files of the task
	Path   string
	Size   int64  // bytes
	SHA256 string // of the content, in hex
	ETag   string
}

// Remove removes the folder.
func (f *File) Remove() { _ = os.RemoveAll(f.Dir) } // what remains is in TempDir, which is removed when the worker ends

// Options are where to store the file, and its limits.
type Options struct {
	TempDir  string                 // the folder is created in it
	Bytes    int64                  // the largest size
	Known    string                 // the ETag of a version that need not be fetched; empty: none
	Progress func(fraction float64) // called during the download with 0-1
}

// Fetch streams the blob to disk, without holding it in memory, and hashes it. Errors: blob.ErrUnchanged if it is the
// known version, content_missing, quota_exceeded, or a retryable class.
func Fetch(ctx context.Context, bucket blob.Bucket, name string, o Options) (*File, error) {
	props, body, err := bucket.OpenChanged(ctx, name, o.Known)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, taskerr.Errorf(taskerr.ContentMissing,
			"the blob %q is not in the tenant's container; upload it, and send the task under a new task_id or with "+
				"hints.force", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open the blob: %w", err)
	}
	defer body.Close()
	if props.Size > o.Bytes {
		return nil, tooLarge(o.Bytes)
	}
	dir, err := os.MkdirTemp(o.TempDir, "task-")
	if err != nil {
		return nil, NoRoom(err)
	}
	f := &File{Dir: dir, Path: filepath.Join(dir, "source"), ETag: props.ETag}
	if err := f.write(body, o.Bytes, func(
		n int64,
	) {
		o.Progress(float64(n) / float64(max(props.Size, 1)))
	}); err != nil {
		f.Remove()
		return nil, err
	}
	return f, nil
}

func (f *File) write(body io.Reader, limit int64, progress func(int64)) error {
	file, err := os.OpenFile(f.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return NoRoom(err)
	}
	defer file.Close()
	sum := sha256.New()
	counted := &counting{Writer: io.MultiWriter(file, sum), progress: progress}
	f.Size, err = io.Copy(counted, io.LimitReader(body, limit+1))
	switch {
	case errors.Is(err, blob.ErrChanged):
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Message: fmt.Sprintf("the blob was overwritten while it was read: %v",
				err), Cause: err,
			Hint: "the sender must send the task after the upload is done",
		}
	case counted.failed != nil:
		return NoRoom(counted.failed)
	case err != nil:
		return fmt.Errorf("read the blob: %w", err)
	case f.Size > limit:
		return tooLarge(limit)
	}
	if err := file.Close(); err != nil {
		return NoRoom(err)
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
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
	return taskerr.Errorf(taskerr.QuotaExceeded, "the document is larger than the limit of %d MB (MAX_BLOB_MB)",
		limit>>20)
}

// NoRoom is the error of a task that can't write its temporary files.
func NoRoom(err error) error {
	return taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w",
		err)
}
