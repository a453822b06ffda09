package httpd

import (
	"io"
	"net/http"
	"strings"
)

// fullProblem is errFull for programs, as RFC 9457 describes an error; its code is one of the HTTP API's.
const fullProblem = `{"type":"about:blank","title":"Service Unavailable","status":503,"code":"TOO_MANY_REQUESTS",` +
	`"detail":"as many requests are being served as there is room for; nothing was done: try again as Retry-After says"}` + "\n"

// refuseFull rejects a request while as many as there is room for are being served.
func refuseFull(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Retry-After", "1")
	if !strings.Contains(r.URL.Path, "/v1/") { // of the HTTP API; a proxy may have a prefix before it
		http.Error(w, "too many requests at a time; try again later", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, fullProblem) // an error means that the client is gone
}
