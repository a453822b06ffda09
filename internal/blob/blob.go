// Package blob defines the container of documents that the worker needs. Back ends live in sub-packages (azure, dir);
// all pass the conformance suite blobtest.
package blob

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/url"
	"time"
)

var (
	// ErrNotFound reports that the blob does not exist.
	ErrNotFound = errors.New("not found")
	// ErrChanged reports that the blob was overwritten while it was read.
	ErrChanged = errors.New("changed while it was read")
	// ErrExists reports that there is a blob with this name.
	ErrExists = errors.New("there is one with this name")
	// ErrUnsigned reports that a bucket's credentials can't sign an address for somebody else.
	ErrUnsigned = errors.New("the credentials can't sign addresses")
	// ErrUnchanged reports that the blob still has the ETag that the caller knows.
	ErrUnchanged = errors.New("unchanged")
)

// Properties describe a blob at one moment.
type Properties struct {
	Name        string
	Size        int64 // bytes
	ETag        string
	ContentType string // from the uploader; only a hint
	// Encoding is the Content-Encoding, from the uploader; empty: none, or not known. The content is read as it is stored.
	Encoding   string
	ModifiedAt time.Time
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
	// PutNew is Put, but returns ErrExists, and writes nothing, if there is a blob with this name.
	PutNew(ctx context.Context, name string, body io.Reader, contentType string) (Properties, error)
	// List returns the blobs whose names begin with the prefix, in any order, as it reads them: it holds a bounded number.
	// Properties have no ContentType. An error ends it.
	List(ctx context.Context, prefix string) iter.Seq2[Properties, error]
	// Remove removes a blob, or returns ErrNotFound.
	Remove(ctx context.Context, name string) error
}

// Upload is an address to which somebody without credentials can write one new blob.
type Upload struct {
	URL     string // holds a signature
	Method  string
	Header  map[string]string // to send with the content
	Expires time.Time
}

// Download is an address from which somebody without credentials can read one blob.
type Download struct {
	URL     string // holds a signature
	Expires time.Time
}

// Signer is a Bucket that signs addresses.
type Signer interface {
	// SignDownload returns an address of the named blob, which need not exist yet, for at least d from now on. It returns
	// ErrUnsigned if the bucket's credentials are a signature themselves, or may not sign.
	SignDownload(ctx context.Context, name string, d time.Duration) (Download, error)
	// SignUpload returns an address that creates the named blob, and overwrites none, for d from now on. It returns
	// ErrUnsigned if the bucket's credentials are a signature themselves, or may not sign.
	SignUpload(ctx context.Context, name, contentType string, d time.Duration) (Upload, error)
}

// Locator is a Bucket whose blobs have addresses.
type Locator interface {
	// Locate returns the name of the blob at an address, whatever signature the address has. found is false if the
	// address is not in the bucket's account. The error is a validation_error: the address is in the account, but in
	// another container, or of an old version.
	Locate(address *url.URL) (name string, found bool, err error)
}
