package httpd_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

const about = "version 1.2.3, tenant south<haven"

// table is the table of the tests of the index.
var table = httpd.Routes{Name: "async-worker", About: about, Endpoints: []httpd.Endpoint{
	{Pattern: "GET /livez", For: "whether it lives", Access: httpd.OpenBrief, Handler: answers},
	{Pattern: "GET /metrics", For: "metrics", Access: httpd.WithToken, Handler: answers},
	{Pattern: "POST /v1/jobs", For: "takes a job", Access: httpd.WithToken, Handler: answers},
	{Pattern: "GET /v1/jobs/{id}", For: "one job", Access: httpd.WithToken, Handler: answers},
	{Pattern: "GET /help", For: "help", Access: httpd.Open, Handler: answers},
}}

// call asks over a new connection, and returns the answer with its body read.
func call(t *testing.T, to net.Addr, method, path, accept, bearer string) (resp *http.Response, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	c := dial(t, to)
	if err := r.Write(c); err != nil {
		t.Fatal(err)
	}
	if resp, err = http.ReadResponse(bufio.NewReader(c), r); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

// The index is open to everybody, but shows version and tenant only to authorized clients; all else stays guarded.
func TestIndex(t *testing.T) {
	t.Parallel()
	serveTable := func(token string) []net.Addr {
		s, _ := serve(t, httpd.Config{
			Socket: filepath.Join(t.TempDir(), "s"), Addr: "127.0.0.1:0", Token: token, Open: table.Open,
			Handler: table.Handler(),
		})
		return s.Addrs()
	}
	guarded, loopback := serveTable(token), serveTable("")
	for _, c := range []struct {
		name   string
		to     net.Addr
		accept string
		bearer string
		told   bool // version and tenant
	}{
		{"over the socket", guarded[0], "*/*", "", true},
		{"without the token", guarded[1], "*/*", "", false},
		{"with another", guarded[1], "*/*", token + "0", false},
		{"with the token", guarded[1], "*/*", token, true},
		{"where none is needed", loopback[1], "*/*", "", true},
		{"a browser", guarded[1], "text/html,application/xhtml+xml,*/*;q=0.8", "", false},
		{"a browser with the token", guarded[1], "text/html", token, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resp, body := call(t, c.to, http.MethodGet, "/", c.accept, c.bearer)
			page := strings.HasPrefix(c.accept, "text/html")
			if resp.StatusCode != http.StatusOK || strings.HasPrefix(resp.Header.Get("Content-Type"),
				"text/html") != page || !resp.Close {
				t.Errorf("%d, %v", resp.StatusCode, resp.Header)
			}
			if got := strings.Contains(body, "1.2.3") || strings.Contains(body, "haven"); got != c.told || page &&
				strings.Contains(body, about) {
				t.Errorf("version and tenant shown: %v, want %v, escaped\n%s", got, c.told, body)
			}
			for _, want := range []string{
				"GET /livez", "whether it lives", "(open; ?verbose with the token)", "GET /metrics", "(with the token)",
				"POST /v1/jobs", "GET /v1/jobs/{id}", "(open)",
			} {
				if !strings.Contains(body, want) {
					t.Errorf("%q is not in it:\n%s", want, body)
				}
			}
			if strings.Count(body, "<a href=") != map[bool]int{true: 3}[page] {
				t.Errorf("its links: %s", body)
			}
		})
	}
}

// Errors help: a wrong path points to the index, a wrong method to the right ones, and the guard comes first.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, httpd.Config{
		Socket: filepath.Join(t.TempDir(), "s"), Addr: "127.0.0.1:0", Token: token, Open: table.Open,
		Handler: table.Handler(),
	})
	socket, tcp := s.Addrs()[0], s.Addrs()[1]
	for _, c := range []struct {
		method, path string
		to           net.Addr
		bearer       string
		want         int
		says         string
	}{
		{http.MethodGet, "/livez", tcp, "", http.StatusOK, `"path": "/livez"`},
		{http.MethodGet, "/livez?verbose", tcp, "", http.StatusUnauthorized, "HTTP_TOKEN"},
		{http.MethodGet, "/help?verbose", tcp, "", http.StatusOK, `"path"`},
		{http.MethodGet, "/metrics", tcp, "", http.StatusUnauthorized, "HTTP_TOKEN"},
		{http.MethodGet, "/metrics", tcp, token, http.StatusOK, `"path"`},
		{http.MethodGet, "/v1/jobs/a", tcp, "", http.StatusUnauthorized, "HTTP_TOKEN"},
		{http.MethodGet, "/v1/jobs/a", socket, "", http.StatusOK, `"path": "/v1/jobs/a"`},
		{http.MethodGet, "/nothing", tcp, "", http.StatusUnauthorized, "HTTP_TOKEN"},
		{http.MethodGet, "/nothing", tcp, token, http.StatusNotFound, "GET / lists"},
		{http.MethodGet, "/nothing/", socket, "", http.StatusNotFound, "GET / lists"},
		{http.MethodPost, "/metrics", socket, "", http.StatusMethodNotAllowed, "Method Not Allowed"},
		{http.MethodGet, "/v1/jobs", socket, "", http.StatusMethodNotAllowed, "Method Not Allowed"},
		{http.MethodPost, "/", socket, "", http.StatusMethodNotAllowed, "Method Not Allowed"},
	} {
		resp, body := call(t, c.to, c.method, c.path, "*/*", c.bearer)
		if resp.StatusCode != c.want || !strings.Contains(body, c.says) || strings.Contains(body, "page not found") {
			t.Errorf("%s %s over %s: %d %q, want %d %q", c.method, c.path, c.to.Network(), resp.StatusCode, body,
				c.want, c.says)
		}
		if c.want == http.StatusMethodNotAllowed && resp.Header.Get("Allow") == "" {
			t.Errorf("%s %s does not say which methods are", c.method, c.path)
		}
		if c.bearer == "" && c.to == tcp && !resp.Close {
			t.Errorf("%s %s without a token keeps its connection", c.method, c.path)
		}
	}
}
