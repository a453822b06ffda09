package httpd_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

const token = "0123456789abcdef0123456789abcdef"

// answers responds with the request's path and listener.
var answers = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	httpd.WriteJSON(w, map[string]string{"path": r.URL.Path})
})

// serve runs a server until the test ends.
func serve(t *testing.T, cfg httpd.Config) (s *httpd.Server, stop func() error) {
	t.Helper()
	cfg.Log = quiet
	if cfg.Handler == nil {
		cfg.Handler = answers
	}
	s, err := httpd.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return s, stop
}

// The server listens on the socket, which only user and group may open, and over TCP. Both work until it is stopped,
// and the socket is removed then.
func TestServe(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "http.sock")
	s, stop := serve(t, httpd.Config{Socket: socket, Addr: "127.0.0.1:0"})
	info, err := os.Stat(socket)
	if err != nil || info.Mode() != fs.ModeSocket|0o660 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	for _, c := range []httpd.Client{{Socket: socket}, {Addr: s.Addrs()[1].String()}} {
		var got map[string]string
		if err := c.Get(t.Context(), "/status", &got); err != nil || got["path"] != "/status" {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	var none any
	if err := (httpd.Client{Socket: socket}).Get(t.Context(), "/", &none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a request to a stopped server: %v", err)
	}
}

// When the server is stopped, a running request is canceled through its context, and still answered.
func TestStopEndsRequests(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	s, stop := serve(t, httpd.Config{
		Addr: "127.0.0.1:0",
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-r.Context().Done()
			httpd.WriteJSON(w, "over")
		}),
	})
	answered := make(chan error, 1)
	go func() {
		var got string
		err := (httpd.Client{Addr: s.Addrs()[0].String()}).Get(context.Background(), "/", &got)
		if err == nil && got != "over" {
			err = fmt.Errorf("got %q", got)
		}
		answered <- err
	}()
	<-begun
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// A request that is being served when the server is stopped ends as it would have; a stream is canceled at once. Both
// know why if they are canceled.
func TestStopLetsRequestsEnd(t *testing.T) {
	t.Parallel()
	begun, stopped := make(chan struct{}, 2), make(chan struct{})
	causes := make(chan error, 1)
	s, stop := serve(t, httpd.Config{
		Addr: "127.0.0.1:0", Own: func(*http.Request) bool { return true },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			if r.Header.Get("Accept") == "text/event-stream" {
				<-r.Context().Done()
				causes <- context.Cause(r.Context())
				close(stopped)
				return
			}
			<-stopped
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request is canceled with the stream: %v", err)
			}
			httpd.WriteJSON(w, "done")
		}),
	})
	answered := make(chan error, 2)
	for method, accept := range map[string]string{
		http.MethodGet:  "text/event-stream",
		http.MethodPost: "application/json, text/event-stream", // as an assistant asks
	} {
		go func() {
			req, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.Addrs()[0].String(), http.NoBody)
			if err != nil {
				answered <- err
				return
			}
			req.Header.Set("Accept", accept)
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err == nil {
				err = resp.Body.Close()
			}
			answered <- err
		}()
	}
	<-begun
	<-begun
	if err := stop(); err != nil {
		t.Error(err)
	}
	if cause := <-causes; !errors.Is(cause, httpd.ErrStopping) {
		t.Errorf("the stream ended for %v", cause)
	}
	for range 2 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// A socket that a killed worker left is replaced; one with a listener, and a file, are not.
func TestOldSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, "left.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // as if it had been killed
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	serve(t, httpd.Config{Socket: left})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		left: "another worker listens there",
		file: "not a socket",
		filepath.Join(dir, strings.Repeat("x", 100)): "bytes",
		filepath.Join(dir, "nowhere", "http.sock"):   "no such file",
	} {
		if _, err := httpd.Listen(t.Context(), httpd.Config{Socket: path, Handler: answers, Log: quiet}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the file was touched: %q, %v", text, err)
	}
}

// An address in use is an error that names the setting; the socket is removed.
func TestAddressTaken(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, httpd.Config{Addr: "127.0.0.1:0"})
	socket := filepath.Join(t.TempDir(), "http.sock")
	_, err := httpd.Listen(t.Context(), httpd.Config{
		Socket: socket, Addr: s.Addrs()[0].String(), Handler: answers, Log: quiet,
	})
	if err == nil || !strings.Contains(err.Error(), "HTTP_ADDR") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// Which requests are allowed over TCP.
func TestGuard(t *testing.T) {
	t.Parallel()
	open := func(r *http.Request) bool { return r.URL.Path == "/livez" }
	for _, c := range []struct {
		name, token, path, host, authorization string
		want                                   int
	}{
		{"loopback needs no token", "", "/metrics", "127.0.0.1:9090", "", http.StatusOK},
		{"nor does its name", "", "/metrics", "LocalHost:9090", "", http.StatusOK},
		{"nor does IPv6", "", "/metrics", "[::1]:9090", "", http.StatusOK},
		{"nor one without a port", "", "/metrics", "[::1]", "", http.StatusOK},
		{"a page that rebinds its name", "", "/metrics", "evil.example:9090", "", http.StatusMisdirectedRequest},
		{"a rebound name, on an open path", "", "/livez", "evil.example:9090", "", http.StatusMisdirectedRequest},
		{"the token", token, "/metrics", "worker.example:9090", "Bearer " + token, http.StatusOK},
		{"in any case of the scheme", token, "/metrics", "worker.example", "bearer  " + token, http.StatusOK},
		{"no token", token, "/metrics", "127.0.0.1:9090", "", http.StatusUnauthorized},
		{"another one", token, "/metrics", "127.0.0.1:9090", "Bearer " + token + "0", http.StatusUnauthorized},
		{"an empty one", token, "/metrics", "127.0.0.1:9090", "Bearer ", http.StatusUnauthorized},
		{"another scheme", token, "/metrics", "127.0.0.1:9090", "Basic " + token, http.StatusUnauthorized},
		{"an open path", token, "/livez", "10.0.0.7:9090", "", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
			r.Host = c.host
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			w := httptest.NewRecorder()
			httpd.NewGuard(httpd.Config{
				Addr: "127.0.0.1:9090", Token: c.token, Open: open, Handler: answers, Log: quiet,
			}).ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if c.want == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
				t.Error("the response does not say how to authenticate")
			}
		})
	}
}

// Refused requests are logged once, without their token.
func TestRefusalsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	g := httpd.NewGuard(httpd.Config{Token: token, Handler: answers, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		r.Header.Set("Authorization", "Bearer guessed")
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
	if got := log.String(); strings.Count(got, "refused") != 1 || strings.Contains(got, "guessed") ||
		strings.Contains(got, token) {
		t.Errorf("the log: %s", got)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	fine := []httpd.Check{
		{Name: "store", State: httpd.OK}, {
			Name: "model", State: httpd.Warning, Since: since, Class: "ai_rate_limit",
			Hint: "slow down",
		},
	}
	broken := append([]httpd.Check{{Name: "queue normal", State: httpd.Failed, Since: since}}, fine...)
	for _, c := range []struct {
		query  string
		checks []httpd.Check
		code   int
		text   string
	}{
		{"", fine, http.StatusOK, "ok\n"},
		{"", broken, http.StatusServiceUnavailable, "failed: queue normal\n"},
		{
			"?verbose", fine, http.StatusOK,
			"[+]store ok\n[!]model warning since 2026-11-20T08:30:00Z (ai_rate_limit): slow down\nreadyz check passed\n",
		},
		{
			"?verbose=1", broken[:1], http.StatusServiceUnavailable,
			"[-]queue normal failed since 2026-11-20T08:30:00Z\nreadyz check failed\n",
		},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz"+c.query, http.NoBody)
		httpd.Probe{Name: "readyz", Checks: func() []httpd.Check { return c.checks }}.ServeHTTP(w, r)
		if w.Code != c.code || w.Body.String() != c.text || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %q, want %d %q", c.query, w.Code, w.Body, c.code, c.text)
		}
	}
}

// The client's errors when there is no usable response.
func TestClientErrors(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, httpd.Config{
		Addr: "127.0.0.1:0", Token: token,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/away" {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
				return
			}
			_, _ = w.Write([]byte("<html>"))
		}),
	})
	addr := s.Addrs()[0].String()
	var got any
	status, ok := errors.AsType[*httpd.StatusError](httpd.Client{Addr: addr}.Get(t.Context(), "/", &got))
	if !ok || status.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %v", status)
	}
	status, ok = errors.AsType[*httpd.StatusError](httpd.Client{Addr: addr, Token: token}.Get(t.Context(), "/away",
		&got))
	if !ok || status.Code != http.StatusFound {
		t.Errorf("the token was sent to another host: %v", status)
	}
	if err := (httpd.Client{Addr: addr, Token: token}).Get(t.Context(), "/", &got); err == nil ||
		!strings.Contains(err.Error(), "not a worker's") {
		t.Errorf("no JSON: %v", err)
	}
}
