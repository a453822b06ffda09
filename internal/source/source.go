// Package source fetches a task's document to a private file on this machine: a blob of the tenant's container, or
// anything at a public https address.
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

// ErrUnchanged reports that the document is of the known version.
var ErrUnchanged = errors.New("source: unchanged")

// Fetcher fetches the documents of a tenant. It is safe for concurrent use.
type Fetcher struct {
	Bucket blob.Bucket
	Web    *Web // nil: only blobs are fetched
}

// Version identifies what was fetched of a place, so that the same is not fetched again.
type Version struct {
	ETag     string
	Modified string // the header Last-Modified of a web server; empty: it sends none, or it is a blob
}

// File is a document in a private folder. Remove it at the end.
type File struct {
	Version

	Dir    string // for other files of the task
	Path   string
	Size   int64  // bytes
	SHA256 string // of the content, in hex
	// Name is the document's name as the web server has it, a valid name of a blob; of a blob its name.
	Name        string
	ContentType string // only a hint; see Hint
}

// Remove removes the folder.
func (f *File) Remove() { _ = os.RemoveAll(f.Dir) } // what remains is in TempDir, which is removed when the worker ends

// Options are where to store the file, and its limits.
type Options struct {
	TempDir  string                 // the folder is created in it
	Bytes    int64                  // the largest size
	Known    Version                // that need not be fetched; zero: none
	Progress func(fraction float64) // called during the download with 0-1
}

// content is an open document.
type content struct {
	version     Version
	size        int64 // bytes; negative: not known
	name        string
	contentType string
	body        io.ReadCloser
	problem     func(error) error // makes the task's error of an error of body
}

// Fetch streams the document to disk, without holding it in memory, and hashes it. Errors: ErrUnchanged if it is of the
// known version, content_missing, quota_exceeded, validation_error for an address that may not be called, or a retryable
// class.
func (f Fetcher) Fetch(ctx context.Context, p Place, o Options) (*File, error) {
	c, err := f.open(ctx, p, o.Known, o.Bytes)
	if err != nil {
		return nil, err
	}
	defer c.body.Close()
	if c.size > o.Bytes {
		return nil, tooLarge(o.Bytes)
	}
	dir, err := os.MkdirTemp(o.TempDir, "task-")
	if err != nil {
		return nil, NoRoom(err)
	}
	file := &File{
		Dir: dir, Path: filepath.Join(dir, "source"), Version: c.version, Name: c.name, ContentType: c.contentType,
	}
	if err := file.write(c, o); err != nil {
		file.Remove()
		return nil, err
	}
	return file, nil
}

// open opens a document of which most bytes may be sent, before they are decompressed.
func (f Fetcher) open(ctx context.Context, p Place, known Version, most int64) (content, error) {
	if p.Address == nil {
		return f.openBlob(ctx, p.Blob, known.ETag)
	}
	return f.openAddress(ctx, p.Address, known, most)
}

// maxNamed is how much may be sent of a document of which only the name is asked for: the header of its compression.
const maxNamed = 1 << 20

// Name asks for the name of a document that is not fetched yet.
func (f Fetcher) Name(ctx context.Context, p Place) (string, error) {
	if p.Address == nil {
		return p.Blob, nil
	}
	c, err := f.open(ctx, p, Version{}, maxNamed)
	if err != nil {
		return "", err
	}
	return c.name, c.body.Close()
}

func (f Fetcher) openBlob(ctx context.Context, name, known string) (content, error) {
	props, body, err := f.Bucket.OpenChanged(ctx, name, known)
	switch {
	case errors.Is(err, blob.ErrUnchanged):
		return content{}, fmt.Errorf("%w: %w", ErrUnchanged, err)
	case errors.Is(err, blob.ErrNotFound):
		return content{}, taskerr.Errorf(taskerr.ContentMissing,
			"the blob %q is not in the tenant's container; upload it, and send the task under a new task_id or with "+
				"hints.force", name)
	case err != nil:
		return content{}, fmt.Errorf("open the blob: %w", err)
	}
	body, size, err := blob.Unpacked(props, body)
	if err != nil {
		return content{}, blobProblem(err)
	}
	return content{
		version: Version{ETag: props.ETag}, size: size, name: name, contentType: props.ContentType, body: body,
		problem: blobProblem,
	}, nil
}

func blobProblem(err error) error {
	if errors.Is(err, blob.ErrChanged) {
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Message: fmt.Sprintf("the blob was overwritten while it was read: %v", err),
			Cause: err, Hint: "the sender must send the task after the upload is done",
		}
	}
	return fmt.Errorf("read the blob: %w", err)
}

func (f *File) write(c content, o Options) error {
	file, err := os.OpenFile(f.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return NoRoom(err)
	}
	defer file.Close()
	sum := sha256.New()
	counted := &counting{Writer: io.MultiWriter(file, sum), progress: func(n int64) { o.Progress(fraction(n, c.size)) }}
	f.Size, err = io.Copy(counted, io.LimitReader(c.body, o.Bytes+1))
	switch {
	case counted.failed != nil:
		return NoRoom(counted.failed)
	case f.Size > o.Bytes:
		return tooLarge(o.Bytes)
	case err != nil:
		return c.problem(err)
	}
	if err := file.Close(); err != nil {
		return NoRoom(err)
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// fraction is how much of a document is there. Of one whose size is not known it never gets to 1.
func fraction(n, size int64) float64 {
	if size < 0 {
		return float64(n) / float64(n+8<<20)
	}
	return min(float64(n)/float64(max(size, 1)), 1)
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
