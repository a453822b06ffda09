package presidio_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestSupported: the kinds are those of all languages, with our names.
func TestSupported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet || r.URL.Path != "/below/supportedentities":
			t.Errorf("%s %s", r.Method, r.URL)
		case r.FormValue("language") == "en":
			_, _ = io.WriteString(w, `["PERSON","EMAIL_ADDRESS"]`)
		case r.FormValue("language") == "de":
			_, _ = io.WriteString(w, `["PERSON","DE_TAX_ID","BERTH"]`)
		case r.FormValue("language") == "fr":
			_, _ = io.WriteString(w, `{}`)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	supported := func(languages ...string) (map[privacy.Kind]bool, error) {
		d, err := presidio.New(presidio.Config{URL: server.URL + "/below", Languages: languages, HTTPClient: server.Client()})
		if err != nil {
			t.Fatal(err)
		}
		return d.Supported(t.Context())
	}
	want := map[privacy.Kind]bool{"PERSON": true, "EMAIL": true, "NATIONAL_ID": true, "BERTH": true}
	if got, err := supported("en", "de"); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"fr", "xx"} {
		if got, err := supported("en", bad); got != nil || taskerr.Classify(err).Dependency != taskerr.Privacy {
			t.Errorf("%s: %v, %v", bad, got, err)
		}
	}
}
