package httpd_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// own is a server with an endpoint that authorizes its requests, and one that does not.
func own(t *testing.T, token string) (socket, addr string) {
	t.Helper()
	routes := httpd.Routes{Name: "n", Endpoints: []httpd.Endpoint{
		{Pattern: "GET /status", Access: httpd.WithToken, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "secret")
		})},
		{Pattern: "/v1/", Access: httpd.Own, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			uid, ok := httpd.PeerUID(r)
			if ok && int(uid) != os.Geteuid() {
				t.Errorf("user %d at the other end", uid)
			}
			w.Header().Set("Known", map[bool]string{true: "yes", false: "no"}[ok])
			_, _ = io.WriteString(w, "own "+r.Method)
		})},
	}}
	socket = filepath.Join(t.TempDir(), "s")
	s, _ := serve(t, httpd.Config{
		Socket: socket, Addr: "127.0.0.1:0", Token: token, Handler: routes.Handler(), Open: routes.Open, Own: routes.Own,
	})
	return socket, s.Addrs()[1].String()
}

// An endpoint that authorizes its requests gets all of them, of any host and method; the others stay guarded.
func TestOwn(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "the token of sixteen"} {
		socket, addr := own(t, token)
		ask := func(network, method, path, host string) (int, string, http.Header) {
			t.Helper()
			client := &http.Client{
				Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					to := map[string]string{"tcp": addr, "unix": socket}[network]
					return (&net.Dialer{}).DialContext(ctx, network, to)
				}},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
			r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp.StatusCode, string(text), resp.Header
		}
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			if status, text, h := ask("tcp", method, "/v1/x", "api.example.org"); status != 200 || text != "own "+method ||
				h.Get("Known") != "no" {
				t.Errorf("%s: %d %q %v", method, status, text, h)
			}
		}
		if status, _, h := ask("unix", "GET", "/v1/x", "localhost"); status != 200 || h.Get("Known") != "yes" {
			t.Errorf("over the socket: %d, known: %s", status, h.Get("Known"))
		}
		for _, path := range []string{"/status", "/v1/../status", "/v1/%2e%2e/status", "/v1//../status", "/v1/..%2fstatus", "//v1/../status"} {
			if _, text, _ := ask("tcp", "GET", path, "api.example.org"); strings.Contains(text, "secret") {
				t.Errorf("%s shows the guarded endpoint", path)
			}
		}
	}
}
