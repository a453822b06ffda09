package docling_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
)

// TestProbe: a server that is ready and accepts the key, and others that don't. Nothing is converted.
func TestProbe(t *testing.T) {
	t.Parallel()
	server := doclingtest.New(t, doclingtest.Options{})
	for name, test := range map[string]struct{ url, key, message string }{
		"fine":      {server.URL(), doclingtest.Key, ""},
		"wrong key": {server.URL(), "wrong", "refuses the key"},
		"down":      {"http://127.0.0.1:1", doclingtest.Key, "could not be reached"},
	} {
		client, err := docling.New(docling.Options{URL: test.url, APIKey: test.key})
		if err != nil {
			t.Fatal(err)
		}
		err = client.Probe(t.Context())
		if test.message == "" && err != nil || test.message != "" &&
			(err == nil || !strings.Contains(err.Error(), test.message)) {
			t.Errorf("%s: %v", name, err)
		}
		client.CloseIdle()
	}
	if n := server.Conversions(); n != 0 {
		t.Errorf("%d conversions", n)
	}
}
