package azure_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// A blob that was uploaded with a Content-Encoding is read as it is stored, and says so.
func TestEncoded(t *testing.T) {
	t.Parallel()
	creds, err := storage.FromConnectionString(stacktest.Azurite(t))
	if err != nil {
		t.Fatal(err)
	}
	name := stacktest.UniqueName("blobs")
	b, err := azure.Open(creds, name, azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, strings.Repeat("text ", 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := creds.Container(name, azcore.ClientOptions{Transport: storage.Client(storage.Transport(1))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.NewBlockBlobClient("a.txt").UploadStream(t.Context(), bytes.NewReader(packed.Bytes()),
		&blockblob.UploadStreamOptions{HTTPHeaders: &sdk.HTTPHeaders{BlobContentEncoding: new("gzip")}}); err != nil {
		t.Fatal(err)
	}
	p, r, err := b.Open(t.Context(), "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, packed.Bytes()) || p.Size != int64(packed.Len()) || p.Encoding != "gzip" {
		t.Errorf("read %d bytes of %+v, %v", len(got), p, err)
	}
	if stat, err := b.Stat(t.Context(), "a.txt"); err != nil || stat.Encoding != "gzip" || stat.Size != p.Size {
		t.Errorf("stat: %+v, %v", stat, err)
	}
}
