package front_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// bench is a proxy in front of the workers of some tenants.
type bench struct {
	*testing.T
	runtime string
	front   *front.Front
	addr    string
}

var quiet = slog.New(slog.DiscardHandler)

func newBench(t *testing.T, tenants ...string) *bench {
	t.Helper()
	b := &bench{T: t, runtime: t.TempDir()}
	f, err := front.New(front.Config{
		Runtime: b.runtime, Socket: "http.sock", Tenants: tenants, Log: quiet, FilesPath: "/dashboard/static/",
		Strangers: func(r *http.Request) bool { return r.URL.Path == "/login" },
		Files:     http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the proxy's") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.front = f
	b.addr = serve(t, httpd.Config{
		Addr: "127.0.0.1:0", Handler: f, Own: func(*http.Request) bool { return true }, Open: front.Probes,
		Requests: front.AllRequests, Streams: front.AllStreams, Strangers: f.OfStrangers,
	})
	return b
}

// serve runs a server until the test ends, and returns its first address.
func serve(t *testing.T, cfg httpd.Config) string {
	t.Helper()
	addr, stop := start(t, cfg)
	t.Cleanup(stop)
	return addr
}

func start(t *testing.T, cfg httpd.Config) (addr string, stop func()) {
	t.Helper()
	cfg.Log = quiet
	s, err := httpd.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return s.Addrs()[0].String(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// worker serves a tenant's socket.
func (b *bench) worker(name string, h http.HandlerFunc) (stop func()) {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(b.runtime, name), 0o755); err != nil {
		b.Fatal(err)
	}
	_, stop = start(b.T, httpd.Config{Socket: b.socket(name), Handler: h, Own: func(*http.Request) bool { return true }})
	return stop
}

func (b *bench) socket(name string) string { return filepath.Join(b.runtime, name, "http.sock") }

func (b *bench) up(name string, h http.HandlerFunc) {
	b.Helper()
	b.Cleanup(b.worker(name, h))
}

// echo answers with what arrived.
func echo(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, known := httpd.PeerUID(r)
		w.Header().Set("Location", "/v1/jobs/1")
		w.Header().Set("Set-Cookie", "a=b")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"worker": name, "uri": r.RequestURI, "header": r.Header, "host": r.Host, "body": string(body), "known": known,
		})
	}
}

// raw sends a request as it is, and returns the response with its body.
func (b *bench) raw(text string) (*http.Response, string) {
	b.Helper()
	c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", b.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		b.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		b.Fatalf("%.60q: %v", text, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return resp, string(body)
}

func (b *bench) get(path string, header ...string) (*http.Response, string) {
	b.Helper()
	var text strings.Builder
	text.WriteString("GET " + path + " HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n")
	for _, h := range header {
		text.WriteString(h + "\r\n")
	}
	return b.raw(text.String() + "\r\n")
}

// expect checks a status, and that an error is a problem with a code.
func (b *bench) expect(path string, status int, code string, header ...string) *http.Response {
	b.Helper()
	resp, body := b.get(path, header...)
	var p struct {
		Code   string `json:"code"`
		Status int    `json:"status"`
	}
	if resp.StatusCode != status || status >= 400 && (json.Unmarshal([]byte(body), &p) != nil || p.Code != code ||
		p.Status != status || resp.Header.Get("Content-Type") != "application/problem+json") {
		b.Errorf("%s: %d %s", path, resp.StatusCode, body)
	}
	return resp
}

// Each path reaches its tenant, whole and without the prefix; the worker is told that it was forwarded, and for whom,
// whatever the client says of itself.
func TestForwards(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", echo("southhaven"))
	b.up("east-bay", echo("east-bay"))
	for _, name := range []string{"southhaven", "east-bay"} {
		for path, want := range map[string]string{
			"/v1/jobs?q=%2F..%2F&ticket=x;y": "/v1/jobs?q=%2F..%2F&ticket=x;y", "/v1/blobs/a%2Fb%20c.pdf": "/v1/blobs/a%2Fb%20c.pdf",
			"/": "/", "/mcp": "/mcp", "//v1": "//v1", "/v1/jobs/%C3%A9": "/v1/jobs/%C3%A9",
		} {
			resp, body := b.raw("POST /t/" + name + path + " HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer x\r\n" +
				"X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Prefix: /evil\r\nx-forwarded-user: root\r\nX-Real-IP: 10.0.0.1\r\n" +
				"Forwarded: for=10.0.0.1\r\nCookie: a=b; async_worker_southhaven=southhaven; async_worker_east-bay=east-bay\r\nConnection: close, X-Forwarded-For\r\nUpgrade: websocket\r\n" +
				"Last-Event-ID: 7\r\nContent-Length: 4\r\n\r\nbody")
			var got struct {
				Worker, URI, Host, Body string
				Header                  http.Header
				Known                   bool
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if resp.StatusCode != http.StatusOK || got.Worker != name || got.URI != want || got.Body != "body" || got.Host != "localhost" ||
				got.Known || resp.Header.Get("Location") != "/t/"+name+"/v1/jobs/1" || resp.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %d %+v %v", path, resp.StatusCode, got, resp.Header)
			}
			for header, want := range map[string]string{
				"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Prefix": "/t/" + name, "X-Forwarded-Host": "api.example",
				"X-Forwarded-User": "", "X-Real-Ip": "", "Forwarded": "", "Cookie": "async_worker_" + name + "=" + name, "Upgrade": "",
				"Authorization": "Bearer x", "Last-Event-Id": "7",
			} {
				if strings.Join(got.Header[header], "|") != want {
					t.Errorf("%s is %q, want %q", header, got.Header[header], want)
				}
			}
		}
	}
}

// A path that names no tenant in plain words is a 404, and reaches nothing.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", echo("southhaven"))
	secret := filepath.Join(b.runtime, "http.sock")
	t.Cleanup(func() { _ = os.Remove(secret) })
	serve(t, httpd.Config{Socket: secret, Handler: echo("outside")})
	if err := os.Mkdir(filepath.Join(b.runtime, "Upper"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.runtime, filepath.Join(b.runtime, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/", "/t", "/t/", "/t//", "/t/southhaven", "/t/unknown/v1/jobs", "/t/./v1", "/t/../v1", "/t//v1", "/t/%2e/x",
		"/t/south%68aven/v1", "/t/southhaven%2f/v1", "/t/southhaven%2fv1", "/t/x%2f..%2fsouthhaven/v1", "/t/southhaven%00/v1",
		"/t/..%2fsouthhaven/v1", "/t/southhaven/../other/v1", "/t/southhaven/%2e%2e/x", "/t/southhaven/..%2f..%2fx",
		"/t/southhaven/v1/.", "/t/southhaven/a%5cb", "/t/southhaven/a%00", "/t/Upper/v1", "/t/linked/v1", "/t/south--haven/v1",
		"/T/southhaven/v1", "//t/southhaven/v1", "/t/southhaven;a/v1", "/t/" + strings.Repeat("a", 5000) + "/v1", "/v1/jobs",
	} {
		b.expect(path, 404, "NOT_FOUND")
	}
	resp, body := b.raw("GET http://other.example/t/southhaven/v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"uri":"/v1"`) {
		t.Errorf("an absolute address: %d %s", resp.StatusCode, body)
	}
	for _, line := range []string{"OPTIONS *", "CONNECT southhaven:80"} {
		if resp, _ := b.raw(line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); resp.StatusCode/100 == 5 {
			t.Errorf("%s: %d", line, resp.StatusCode)
		}
	}
	b.expect("/livez", 200, "")
}

// With a list, the tenants on it are served, and no other.
func TestListed(t *testing.T) {
	t.Parallel()
	b := newBench(t, "southhaven", "later")
	b.up("southhaven", echo("southhaven"))
	b.up("east-bay", echo("east-bay"))
	b.expect("/t/southhaven/v1", 200, "")
	b.expect("/t/east-bay/v1", 404, "NOT_FOUND")
	if resp := b.expect("/t/later/v1", 502, "TENANT_UNAVAILABLE"); resp.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if n := b.front.Look(); n != 2 {
		t.Errorf("%d tenants are known", n)
	}
	if _, err := front.New(front.Config{Tenants: []string{"../x"}, Log: quiet}); err == nil {
		t.Error("a list may have any name")
	}
}
