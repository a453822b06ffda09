package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

var _ blob.Signer = (*Bucket)(nil)

// keyLife is how long a key that signs for an identity holds.
const keyLife = 2 * time.Hour

// delegation keeps the key that signs for an identity.
type delegation struct {
	mu   sync.Mutex
	sign storage.BlobSigner
	ends time.Time // zero: it does not end
}

// signer returns a signer whose signatures hold for d.
func (b *Bucket) signer(ctx context.Context, d time.Duration) (storage.BlobSigner, error) {
	k := &b.signing
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sign != nil && (k.ends.IsZero() || time.Until(k.ends) > d) {
		return k.sign, nil
	}
	sign, ends, err := b.creds.BlobSigner(ctx, azcore.ClientOptions{
		Transport: storage.Client(tracing.Transport(b.transport, "blob")),
	}, keyLife+d)
	if err != nil {
		return nil, b.unsigned(b.explain("get a key to sign addresses of", err))
	}
	if sign == nil {
		return nil, fmt.Errorf("sign an address: %w", blob.ErrUnsigned)
	}
	k.sign, k.ends = sign, ends
	return sign, nil
}

// unsigned turns the denial of the right to sign, which is no outage, into blob.ErrUnsigned with a hint that names it.
func (b *Bucket) unsigned(err error) error {
	p, ok := errors.AsType[*storage.Problem](err)
	if !ok || p.Code != "AuthorizationPermissionMismatch" {
		return err
	}
	p.Hint = b.creds.Grant(storage.BlobSign, b.name)
	hint := "let an administrator give the worker the right to sign; " + p.Hint
	p.Hint = hint // also in the sentence
	return &taskerr.Error{
		Class: taskerr.ValidationError, Message: "the identity may not sign addresses of blobs: " + p.Error(), Hint: hint,
		Cause: fmt.Errorf("%w: %w", blob.ErrUnsigned, p),
	}
}

// SignUpload implements blob.Signer. The right to create does not include overwriting.
func (b *Bucket) SignUpload(ctx context.Context, name, contentType string, d time.Duration) (blob.Upload, error) {
	if err := blob.CheckName(name); err != nil {
		return blob.Upload{}, err
	}
	sign, err := b.signer(ctx, d)
	if err != nil {
		return blob.Upload{}, err
	}
	ends := time.Now().UTC().Add(d).Truncate(time.Second)
	address, err := b.signed(sign, name, sas.BlobPermissions{Create: true}, ends)
	if err != nil {
		return blob.Upload{}, err
	}
	u := blob.Upload{
		URL: address, Method: http.MethodPut, Expires: ends,
		Header: map[string]string{"x-ms-blob-type": "BlockBlob"},
	}
	if contentType != "" {
		u.Header["Content-Type"] = contentType
	}
	return u, nil
}

// SignDownload implements blob.Signer.
func (b *Bucket) SignDownload(ctx context.Context, name string, d time.Duration) (blob.Download, error) {
	if err := blob.CheckName(name); err != nil {
		return blob.Download{}, err
	}
	d += time.Minute // the caller hands the address on
	sign, err := b.signer(ctx, d)
	if err != nil {
		return blob.Download{}, err
	}
	ends := time.Now().UTC().Add(d).Truncate(time.Second)
	address, err := b.signed(sign, name, sas.BlobPermissions{Read: true}, ends)
	return blob.Download{URL: address, Expires: ends}, err
}

// signed is the address of a blob with a signature.
func (b *Bucket) signed(sign storage.BlobSigner, name string, may sas.BlobPermissions, ends time.Time) (string, error) {
	address, protocol := b.client.NewBlobClient(name).URL(), sas.ProtocolHTTPS
	if strings.HasPrefix(address, "http:") { // the emulator
		protocol = sas.ProtocolHTTPSandHTTP
	}
	query, err := sign(sas.BlobSignatureValues{
		Protocol: protocol, ExpiryTime: ends, ContainerName: b.name, BlobName: name, Permissions: may.String(),
	})
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return address + "?" + query.Encode(), nil
}
