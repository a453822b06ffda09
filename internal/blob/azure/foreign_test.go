package azure_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
)

// page answers each request as a proxy does that wants somebody to sign in.
type page struct{}

func (page) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: 8,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader("Sign in!")),
	}, nil
}

// A proxy's page is not the content of a blob.
func TestForeignAnswer(t *testing.T) {
	t.Parallel()
	b := open(t, azure.Options{Transport: page{}})
	_, stat := b.Stat(t.Context(), "a.txt")
	_, body, opened := b.Open(t.Context(), "a.txt")
	if opened == nil {
		_ = body.Close()
	}
	_, put := b.Put(t.Context(), "a.txt", strings.NewReader("x"), "")
	for what, err := range map[string]error{"stat": stat, "open": opened, "put": put} {
		if _, ok := errors.AsType[*storage.ForeignError](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}
