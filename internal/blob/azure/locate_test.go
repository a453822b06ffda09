package azure_test

import (
	"errors"
	"net/url"
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The addresses of the container's own blobs are recognized, however they are written; those of the rest of the account
// are refused, and all others are not the bucket's.
func TestLocate(t *testing.T) {
	t.Parallel()
	const refused, elsewhere = "refused", ""
	for connection, addresses := range map[string]map[string]string{
		"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net": {
			"https://acme.blob.core.windows.net/documents/in/a.pdf":                    "in/a.pdf",
			"https://ACME.blob.core.windows.net.:443/documents/a%20b.pdf?sig=x&se=2":   "a b.pdf",
			"https://acme.blob.core.windows.net/documents/a%2Fb.pdf":                   "a/b.pdf",
			"https://acme.dfs.core.windows.net/documents/a.pdf":                        "a.pdf",
			"https://acme-secondary.blob.core.windows.net/documents/a.pdf":             "a.pdf",
			"https://acme。blob.core.windows.net。/documents/a.pdf":                      "a.pdf",
			"https://acme。blob.core.windows.net/others/a.pdf":                          refused,
			"https://acme%E3%80%82blob.core.windows.net/others/a.pdf":                  refused,
			"https://ＡＣＭＥ.dfs.core.windows.net/others/a.pdf":                           refused,
			"https://acme.blob.core.windows.net/others/a.pdf":                          refused,
			"https://acme.blob.core.windows.net/documents2/a.pdf":                      refused,
			"https://acme.blob.core.windows.net/documents":                             refused,
			"https://acme.blob.core.windows.net/documents/":                            refused,
			"https://acme.blob.core.windows.net/a.pdf":                                 refused,
			"https://acme.dfs.core.windows.net/others/a.pdf":                           refused,
			"https://acme-secondary.blob.core.windows.net/others/a.pdf":                refused,
			"https://acme.blob.core.windows.net/documents/a.pdf?snapshot=2026-01-01T0": refused,
			"https://acme.blob.core.windows.net/documents/a.pdf?versionid=2026-01-01":  refused,
			"http://acme.blob.core.windows.net/documents/a.pdf":                        elsewhere, // which is no https address
			"https://acme2.blob.core.windows.net/documents/a.pdf":                      elsewhere,
			"https://acme.blob.core.windows.net.example.com/documents/a.pdf":           elsewhere,
			"https://acme.blob.core.windows.net:444/documents/a.pdf":                   elsewhere,
			"https://example.com/acme.blob.core.windows.net/documents/a.pdf":           elsewhere,
		},
		"UseDevelopmentStorage=true": {
			"http://127.0.0.1:10000/devstoreaccount1/documents/a.pdf": "a.pdf",
			"http://127.0.0.1:10000/devstoreaccount1/others/a.pdf":    refused,
			"http://127.0.0.1:10000/other/documents/a.pdf":            elsewhere,
		},
		"BlobEndpoint=https://acme.blob.core.windows.net;QueueEndpoint=https://acme.queue.core.windows.net;" +
			"SharedAccessSignature=sv=2024-11-04&sp=rcw&se=2999-01-01T00:00:00Z&sig=c2VjcmV0": {
			"https://acme.blob.core.windows.net/documents/a.pdf": "a.pdf",
			"https://acme.blob.core.windows.net/others/a.pdf":    refused,
		},
	} {
		creds, err := storage.FromConnectionString(connection)
		if err != nil {
			t.Fatal(err)
		}
		b, err := azure.Open(creds, "documents", azure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range addresses {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			name, found, err := b.Locate(u)
			got := name
			if failure, ok := errors.AsType[*taskerr.Error](err); ok && failure.Class == taskerr.ValidationError {
				got = refused
			}
			if got != want || found != (want != refused && want != elsewhere) {
				t.Errorf("%s is %q (found %v, %v), want %q", address, name, found, err, want)
			}
		}
	}
}
