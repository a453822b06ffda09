// Package azure is the bucket on an Azure Blob Storage container (and Azurite).
package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Options qualify Open. The zero value is ready for use.
type Options struct {
	// Concurrency is about how many requests run at a time; it sizes the connection pool. Default 8.
	Concurrency int
	// Stall is how long a download may bring no data before it resumes on a new connection. The default transport also
	// ends a request whose bytes the service does not take, or that it does not begin to answer, for as long.
	// Default 30 s.
	Stall time.Duration
	// Transport replaces the HTTP transport, e.g. to inject faults. Default: one sized to Concurrency.
	Transport http.RoundTripper
}

// An upload holds two blocks in memory; 50,000 of them are a blob of 195 GiB.
const (
	blockSize = 4 << 20
	blocks    = 2
)

// Bucket is one container. Make it with Open; it is safe for concurrent use.
type Bucket struct {
	name      string
	creds     *storage.Credentials
	client    *container.Client
	transport http.RoundTripper
	stall     time.Duration
	signing   delegation
}

var _ blob.Bucket = (*Bucket)(nil)

// Open returns the bucket on the named container. It doesn't touch the network.
func Open(creds *storage.Credentials, containerName string, o Options) (*Bucket, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Transport == nil {
		o.Transport = impatient(o.Concurrency, o.Stall)
	}
	client, err := creds.Container(containerName, azcore.ClientOptions{
		Transport: storage.Client(tracing.Transport(o.Transport, "blob")),
		// All requests are idempotent: a read, or a write of the same bytes to the same name.
		Retry: policy.RetryOptions{MaxRetries: 3, RetryDelay: 200 * time.Millisecond, MaxRetryDelay: 5 * time.Second},
	})
	if err != nil {
		return nil, err
	}
	return &Bucket{name: containerName, creds: creds, client: client, transport: o.Transport, stall: o.Stall}, nil
}

// Close closes idle connections.
func (b *Bucket) Close() error {
	(&http.Client{Transport: b.transport}).CloseIdleConnections()
	return nil
}

// Ensure implements blob.Bucket. An identity that may use but not create containers needs no more if the container
// exists.
func (b *Bucket) Ensure(ctx context.Context) error {
	_, err := b.client.Create(ctx, nil)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		switch {
		case answer.ErrorCode == "ContainerAlreadyExists":
			return nil
		case answer.StatusCode == http.StatusForbidden:
			if _, propsErr := b.client.GetProperties(ctx, nil); propsErr == nil {
				return nil
			}
		}
	}
	return b.explain("create the container", err)
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, name string) (blob.Properties, error) {
	if err := blob.CheckName(name); err != nil {
		return blob.Properties{}, err
	}
	resp, err := b.client.NewBlobClient(name).GetProperties(ctx, nil)
	if err != nil {
		return blob.Properties{}, b.explain(fmt.Sprintf("look at blob %q in", name), err)
	}
	return blob.Properties{
		Name: name, Size: value(resp.ContentLength), ETag: string(value(resp.ETag)),
		ContentType: value(resp.ContentType), Encoding: value(resp.ContentEncoding), ModifiedAt: value(resp.LastModified),
	}, nil
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, name string) (blob.Properties, io.ReadCloser, error) {
	return b.OpenChanged(ctx, name, "")
}

// OpenChanged implements blob.Bucket, with If-None-Match.
func (b *Bucket) OpenChanged(ctx context.Context, name, etag string) (blob.Properties, io.ReadCloser, error) {
	if err := blob.CheckName(name); err != nil {
		return blob.Properties{}, nil, err
	}
	options := &sdk.DownloadStreamOptions{}
	if etag != "" {
		known := azcore.ETag(etag)
		options.AccessConditions = &sdk.AccessConditions{
			ModifiedAccessConditions: &sdk.ModifiedAccessConditions{IfNoneMatch: &known},
		}
	}
	resp, err := b.client.NewBlobClient(name).DownloadStream(ctx, options)
	if err != nil {
		return blob.Properties{}, nil, b.explain(fmt.Sprintf("open blob %q in", name), err)
	}
	if resp.Body == nil { // status 304, which the SDK doesn't count as an error
		return blob.Properties{}, nil, fmt.Errorf("open blob %q: %w", name, blob.ErrUnchanged)
	}
	p := blob.Properties{
		Name: name, Size: value(resp.ContentLength), ETag: string(value(resp.ETag)),
		ContentType: value(resp.ContentType), Encoding: value(resp.ContentEncoding), ModifiedAt: value(resp.LastModified),
	}
	stream := resp.NewRetryReader(ctx, &sdk.RetryReaderOptions{MaxRetries: 3})
	return p, newReader(ctx, b, name, p.Size, stream), nil
}

// Put implements blob.Bucket: a small blob is one request, a larger one is blocks and their commit.
func (b *Bucket) Put(ctx context.Context, name string, body io.Reader, contentType string) (blob.Properties, error) {
	return b.put(ctx, name, body, contentType, nil)
}

// PutNew implements blob.Bucket, with If-None-Match. A request that is repeated after its answer got lost finds its own
// blob: that is ErrExists, too.
func (b *Bucket) PutNew(ctx context.Context, name string, body io.Reader, contentType string) (blob.Properties, error) {
	anything := azcore.ETagAny
	return b.put(ctx, name, body, contentType, &sdk.AccessConditions{
		ModifiedAccessConditions: &sdk.ModifiedAccessConditions{IfNoneMatch: &anything},
	})
}

func (b *Bucket) put(
	ctx context.Context, name string, body io.Reader, contentType string, only *sdk.AccessConditions,
) (blob.Properties, error) {
	if err := blob.CheckName(name); err != nil {
		return blob.Properties{}, err
	}
	counted := &countingReader{r: body}
	options := &blockblob.UploadStreamOptions{BlockSize: blockSize, Concurrency: blocks, AccessConditions: only}
	if contentType != "" {
		options.HTTPHeaders = &sdk.HTTPHeaders{BlobContentType: &contentType}
	}
	resp, err := b.client.NewBlockBlobClient(name).UploadStream(ctx, counted, options)
	if counted.err != nil { // the caller's error, not Azure's
		return blob.Properties{}, fmt.Errorf("write blob %q: %w", name, counted.err)
	}
	if err != nil {
		return blob.Properties{}, b.explain(fmt.Sprintf("write blob %q in", name), err)
	}
	return blob.Properties{
		Name: name, Size: counted.n, ETag: string(value(resp.ETag)), ContentType: contentType,
		ModifiedAt: value(resp.LastModified),
	}, nil
}

// Remove implements blob.Bucket. Snapshots are removed with the blob.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := blob.CheckName(name); err != nil {
		return err
	}
	all := sdk.DeleteSnapshotsOptionTypeInclude
	_, err := b.client.NewBlobClient(name).Delete(ctx, &sdk.DeleteOptions{DeleteSnapshots: &all})
	return b.explain("delete the blob "+name+" in", err)
}

// explain turns the SDK's error into a sentinel or into an error with a remedy.
func (b *Bucket) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	doing += fmt.Sprintf(" %q", b.name)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		switch {
		case answer.ErrorCode == "ContainerNotFound": // a setting, not a blob that is missing
		case answer.StatusCode == http.StatusNotFound:
			return fmt.Errorf("%s: %w", doing, blob.ErrNotFound)
		case answer.ErrorCode == "BlobAlreadyExists":
			return fmt.Errorf("%s: %w", doing, blob.ErrExists)
		case answer.StatusCode == http.StatusPreconditionFailed:
			return fmt.Errorf("%s: %w", doing, blob.ErrChanged)
		}
	}
	return b.creds.Explain(storage.Blob, doing, err)
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
