// Package blob is what the worker needs of a tenant's one container of documents. Back ends live in
// sub-packages (azure, dir); blobtest is the one conformance suite that each of them passes.
package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound says that there is no such blob.
	ErrNotFound = errors.New("blob: not found")
	// ErrChanged says that the blob was overwritten while it was being read.
	ErrChanged = errors.New("blob: changed while it was read")
	// ErrUnchanged says that the blob is still the one that the caller knows.
	ErrUnchanged = errors.New("blob: unchanged")
)

// Properties describe a blob at one moment.
type Properties struct {
	Name        string
	Size        int64 // bytes
	ETag        string
	ContentType string // as the uploader said; a hint at most
	ModifiedAt  time.Time
}

// Bucket is one tenant's container. A name that leaves it can't be expressed: see CheckName. It is
// safe for concurrent use. Errors other than the sentinels are (or wrap) a *taskerr.Error of a retryable
// class, or say what permission or setting to mend.
type Bucket interface {
	// Ensure creates the container unless it exists.
	Ensure(ctx context.Context) error
	// Stat returns the properties of a blob, or ErrNotFound.
	Stat(ctx context.Context, name string) (Properties, error)
	// Open streams the blob from its start. The whole stream is of one ETag: it resumes after a broken
	// connection, and ends in ErrChanged when the blob was overwritten meanwhile.
	Open(ctx context.Context, name string) (Properties, io.ReadCloser, error)
	// OpenChanged is Open, unless the blob still has the ETag: then it is ErrUnchanged, and no content was
	// sent. It is one request, too. An empty etag is none that a blob has.
	OpenChanged(ctx context.Context, name, etag string) (Properties, io.ReadCloser, error)
	// Put writes a blob, replacing what was there, atomically.
	Put(ctx context.Context, name string, body io.Reader, contentType string) (Properties, error)
	// Remove removes a blob, or says ErrNotFound.
	Remove(ctx context.Context, name string) error
}
