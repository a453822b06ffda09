package azure

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
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
		return nil, b.explain("get a key to sign upload addresses of", err)
	}
	if sign == nil {
		return nil, fmt.Errorf("sign an upload address: %w", blob.ErrUnsigned)
	}
	k.sign, k.ends = sign, ends
	return sign, nil
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
	address, protocol := b.client.NewBlobClient(name).URL(), sas.ProtocolHTTPS
	if strings.HasPrefix(address, "http:") { // the emulator
		protocol = sas.ProtocolHTTPSandHTTP
	}
	ends := time.Now().UTC().Add(d).Truncate(time.Second)
	signed, err := sign(sas.BlobSignatureValues{
		Protocol: protocol, ExpiryTime: ends, ContainerName: b.name, BlobName: name,
		Permissions: (&sas.BlobPermissions{Create: true}).String(),
	})
	if err != nil {
		return blob.Upload{}, fmt.Errorf("sign an upload address: %w", err)
	}
	u := blob.Upload{
		URL: address + "?" + signed.Encode(), Method: http.MethodPut, Expires: ends,
		Header: map[string]string{"x-ms-blob-type": "BlockBlob"},
	}
	if contentType != "" {
		u.Header["Content-Type"] = contentType
	}
	return u, nil
}
