package api

import (
	"net/http"

	"github.com/rs/cors"
)

// allowOrigins answers browsers' questions whether a page of another origin may call the API (CORS). It sends no cookie
// and reads none: a page needs a token.
func (a *API) allowOrigins(next http.Handler) http.Handler {
	if len(a.deps.AllowOrigins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: a.deps.AllowOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{
			"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID",
			"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", // of an assistant in a page
		},
		ExposedHeaders: []string{"ETag", "Idempotent-Replayed", "Location", "Mcp-Session-Id", "Retry-After", "WWW-Authenticate"},
		MaxAge:         600, // seconds
	}).Handler(next)
}
