package docling_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
)

// The key stays with the server of DOCLING_URL.
func TestRedirect(t *testing.T) {
	t.Parallel()
	server := httpurltest.NewRedirect(t, "DOCLING_URL")
	client, err := docling.New(docling.Options{URL: server.URL, APIKey: doclingtest.Key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	server.Check(t, client.Probe(t.Context()))
}
