package dashboard

import "net/http"

// policy lets a page load nothing but this worker's own files, and run no script but these.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'self'; frame-ancestors 'none'"

// protect refuses changes that another site's page asks for, and sets the headers that keep a browser safe.
func protect(next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// A proxy's host is not the browser's. No page can set this header on a request to another site without asking.
		if host := r.Header.Get("X-Forwarded-Host"); host != "" {
			r = r.Clone(r.Context())
			r.Host = host
		}
		guarded.ServeHTTP(w, r)
	})
}
