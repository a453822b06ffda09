package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// faulty is a proxy with the faults that a gateway or a restart shows to a frontend. Of each path it lets the first
// requests fail that match: a page of HTML with 502, a 429, a connection that ends without an answer, one that ends
// within the answer, and a page of HTML with 200.
type faulty struct {
	URL   string
	match func(*http.Request) bool

	mu     sync.Mutex
	asked  map[string]int           // requests that matched, by path
	waited map[string]time.Duration // from the 429 to the next request, by path
	at     map[string]time.Time     // of the 429
}

// faults is how many there are of each path; refusedFor is the Retry-After of the 429: longer than a frontend waits
// otherwise.
const (
	faults     = 5
	refusedFor = 3 * time.Second
)

func newFaulty(t *testing.T, base string, match func(*http.Request) bool) *faulty {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{
		match: match, asked: map[string]int{}, waited: map[string]time.Duration{}, at: map[string]time.Time{},
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.fail(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.URL = server.URL
	return f
}

// fail answers with the path's next fault; false: it had them all.
func (f *faulty) fail(w http.ResponseWriter, r *http.Request) bool {
	if !f.match(r) {
		return false
	}
	switch f.next(r.URL.Path) {
	case 1:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><h1>502 Bad Gateway</h1></html>")
	case 2:
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":"RATE_LIMITED","detail":"too many requests"}`)
	case 3:
		panic(http.ErrAbortHandler)
	case 4:
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "[")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case 5:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><h1>Back soon</h1></html>")
	default:
		return false
	}
	return true
}

// next counts a request of the path.
func (f *faulty) next(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[path]++
	switch f.asked[path] {
	case 2:
		f.at[path] = time.Now()
	case 3:
		f.waited[path] = time.Since(f.at[path])
	}
	return f.asked[path]
}

// had reports whether a path had all its faults, and a request after them, and how long the client waited after the 429.
func (f *faulty) had(path string) (all bool, waited time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path] > faults, f.waited[path]
}
