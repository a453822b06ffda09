package httpurltest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Raw starts a service that answers every request with these bytes, whether or not they are HTTP, and ends the
// connection. It returns its URL.
func Raw(t *testing.T, answer string) string {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("take the connection over: %v", err)
			return
		}
		_, _ = connection.Write([]byte(answer)) // the client may be gone
		_ = connection.Close()
	}))
	t.Cleanup(service.Close)
	return service.URL
}
