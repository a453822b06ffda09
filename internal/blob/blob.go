// Package blob defines the container of documents that the worker needs. Back ends live in sub-packages (azure, dir);
// all pass the conformance suite blobtest.
package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound reports that the blob does not exist.
	ErrNotFound = errors.New("blob: not found")
	// ErrChanged reports that the blob was overwritten while it was read.
	ErrChanged = errors.New("blob: changed while it was read")
	// ErrUnchanged reports that the blob still has the ETag that the caller knows.
	ErrUnchanged = errors.New("blob: unchanged")
)

// Properties describe a blob at one moment.
type Properties struct {
	Name        string
	Size        int64 // bytes
	ETag        string
	ContentType string // from the uploader; only a hint
	ModifiedAt  time.Time
}

// Bucket is one tenant's container. Names can't leave it, see CheckName. It is safe for concurrent use. Errors other
// than the sentinels are (or wrap) a *taskerr.Error of a retryable class, or name the permission or setting to fix.
type Bucket interface {
	// Ensure creates the container unless it exists.
	Ensure(ctx context.Context) error
	// Stat returns the properties of a blob, or ErrNotFound.
	Stat(ctx context.Context, name string) (Properties, error)
	// Open streams the blob from its start. The whole stream has one ETag: it resumes after a broken connection, and
	// fails with ErrChanged if the blob was overwritten meanwhile.
	Open(ctx context.Context, name string) (Properties, io.ReadCloser, error)
	// OpenChanged is Open, but returns ErrUnchanged without content if the blob still has the ETag. It takes one
	// request. An empty etag matches no blob.
	OpenChanged(ctx context.Context, name, etag string) (Properties, io.ReadCloser, error)
	// Put writes a blob atomically, replacing an existing one.
	Put(ctx context.Context, name string, body io.Reader, contentType string) (Properties, error)
	// Remove removes a blob, or returns ErrNotFound.
	Remove(ctx context.Context, name string) error
}
