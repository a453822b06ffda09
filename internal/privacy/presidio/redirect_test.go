package presidio_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
)

// The texts stay with the service of PII_DETECTOR_URL.
func TestRedirect(t *testing.T) {
	t.Parallel()
	service := httpurltest.NewRedirect(t, "PII_DETECTOR_URL")
	d, err := presidio.New(presidio.Config{URL: service.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	_, err = d.Find(t.Context(), []string{"Ada Lovelace"}, "en")
	service.Check(t, err)
}
