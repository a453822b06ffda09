package azure_test

import (
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
)

// The signature stays with the account.
func TestRedirect(t *testing.T) {
	t.Parallel()
	account := httpurltest.NewRedirect(t, "AZURE_STORAGE_CONNECTION_STRING")
	creds, err := storage.FromConnectionString("QueueEndpoint=" + account.URL + ";BlobEndpoint=" + account.URL +
		";SharedAccessSignature=sv=2024-11-04&sp=rcw&se=2999-01-01T00:00:00Z&sig=c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := azure.Open(creds, "documents", azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	_, err = bucket.Stat(t.Context(), "a.pdf")
	account.Check(t, err)
}
