package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOfStrangers: what is answered without a token and may wait for the client is counted as strangers', and nothing else.
func TestOfStrangers(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]bool{
		"GET /openapi.json": true, "GET /docs": true, "GET /dashboard/login": true, "POST /dashboard/login": true,
		"GET /dashboard/static/1/a.css": true, "POST /dashboard/jobs/1/retry": true,
		"GET /v1/jobs": false, "POST /v1/jobs": false, "GET /dashboard/jobs": false, "GET /status": false, "POST /mcp": false,
		"GET /v1/docs": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := OfStrangers(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)); got != want {
			t.Errorf("%s: %t", request, got)
		}
	}
}
