package httpd_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// What a proxy forwards over the socket has no rights of its own: the token counts, as over TCP, and the kernel's word
// about the proxy does not.
func TestForwarded(t *testing.T) {
	t.Parallel()
	const token = "the token of sixteen"
	for name, c := range map[string]struct{ token, sent, status, known string }{
		"without a token set":     {"", "Bearer ", "401", "no"},
		"without a token":         {token, "", "401", "no"},
		"with a wrong one":        {token, "Bearer x", "401", "no"},
		"with the token":          {token, "Bearer " + token, "200", "no"},
		"that names no requester": {token, "", "401", "no"},
	} {
		socket, _ := own(t, c.token)
		ask := func(path string) *http.Response {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", c.sent)
			req.Header[httpd.ForwardedFor] = []string{"192.0.2.1"}
			if strings.Contains(name, "no requester") {
				req.Header[httpd.ForwardedFor] = []string{""}
			}
			resp, err := (&http.Transport{
				DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return httpd.DialOwner(ctx, socket)
				},
			}).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = resp.Body.Close() })
			return resp
		}
		if got := ask("/status").Status; !strings.HasPrefix(got, c.status) {
			t.Errorf("%s: /status is %s", name, got)
		}
		if got := ask("/v1/x"); got.StatusCode != http.StatusOK || got.Header.Get("Known") != c.known {
			t.Errorf("%s: an endpoint that authorizes: %s, known: %s", name, got.Status, got.Header.Get("Known"))
		}
	}
}

// A link to the socket of another user is not followed.
func TestDialOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a folder to another user")
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	serve(t, httpd.Config{Socket: socket})
	theirs := filepath.Join(dir, "theirs")
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(theirs, "s")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	for path, uid := range map[string]int{socket: 0, link: 4711} {
		if err := os.Chown(filepath.Dir(path), uid, uid); err != nil {
			t.Fatal(err)
		}
		c, err := httpd.DialOwner(t.Context(), path)
		if (err == nil) != (uid == 0) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}
