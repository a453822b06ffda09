package azure_test

import (
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/azure"
)

// The messages stay with the account: an http.Client would repeat a body at another host, and name the address with the
// signature as the referrer.
func TestRedirect(t *testing.T) {
	t.Parallel()
	account := httpurltest.NewRedirect(t, "AZURE_STORAGE_CONNECTION_STRING")
	creds, err := storage.FromConnectionString("QueueEndpoint=" + account.URL + ";BlobEndpoint=" + account.URL +
		";SharedAccessSignature=sv=2024-11-04&sp=rpua&se=2999-01-01T00:00:00Z&sig=c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	service, err := azure.Open(creds, azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	_, err = service.Queue("tasks").Send(t.Context(), "{}", queue.SendOptions{})
	account.Check(t, err)
}
