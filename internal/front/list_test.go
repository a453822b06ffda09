package front_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/front"
)

// list is a proxy that answers with its tenants as text, one a line.
func list(t *testing.T, runtime string) *front.Front {
	t.Helper()
	f, err := front.New(front.Config{
		Runtime: runtime, Socket: "http.sock", Log: quiet,
		List: func(w http.ResponseWriter, _ *http.Request, all []front.Tenant) {
			for _, one := range all {
				_, _ = io.WriteString(w, one.Name+" "+string(one.State)+"\n")
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The tenants are listed with their state: as their workers' status says, whatever else they say. A folder whose name no
// client can have is none.
func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, status := range map[string]int{"north": http.StatusOK, "south": http.StatusServiceUnavailable, "west": http.StatusFound} {
		b.up(name, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" || r.Header.Get("Authorization") != "" {
				t.Errorf("a worker was asked for %s", r.URL)
			}
			w.Header().Set("Location", "https://evil.example/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "ready <script>alert(1)</script>")
		})
	}
	for _, name := range []string{"east", "<script>", "..x", "UPPER"} {
		if err := os.Mkdir(filepath.Join(b.runtime, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const want = "east down\nnorth ready\nsouth not ready\nwest not ready\n"
	var w *httptest.ResponseRecorder
	for range 5 { // a worker that does not answer within a second is down
		f := list(t, b.runtime)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8088/", http.NoBody)
		r.RemoteAddr = "127.0.0.1:40000"
		w = httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if w.Body.String() == want {
			break
		}
	}
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
}

// The list is for who is on the machine: nobody else learns a tenant's name from it.
func TestListIsForThisMachine(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	if err := os.Mkdir(filepath.Join(runtime, "secret-client"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := list(t, runtime)
	for name, edit := range map[string]func(*http.Request){
		"another machine":         func(r *http.Request) { r.RemoteAddr = "192.0.2.7:40000" },
		"another proxy":           func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") },
		"another proxy, RFC 7239": func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.7") },
		"a proxy of another kind": func(r *http.Request) { r.Header.Set("Via", "1.1 cache") },
		"a rebound name":          func(r *http.Request) { r.Host = "evil.example:8088" },
		"a name that begins so":   func(r *http.Request) { r.Host = "127.0.0.1.evil.example" },
		"nginx as it comes":       func(r *http.Request) { r.Host, r.Proto, r.ProtoMinor = "127.0.0.1:8088", "HTTP/1.0", 0 },
		"a change":                func(r *http.Request) { r.Method = http.MethodPost },
		"an odd address":          func(r *http.Request) { r.RemoteAddr = "@" },
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:8088/", http.NoBody)
		r.RemoteAddr = "[::1]:40000"
		edit(r)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	without, err := front.New(front.Config{Runtime: runtime, Socket: "http.sock", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:8088/", http.NoBody)
	r.RemoteAddr = "127.0.0.1:40000"
	w := httptest.NewRecorder()
	if without.ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("without a list: %d", w.Code)
	}
}
