package source_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// site is an https server on this machine, and a fetcher that may call it.
type site struct {
	*testing.T
	url     string
	fetcher source.Fetcher
	temp    string
	calls   atomic.Int32
	last    atomic.Pointer[http.Header]
}

func newSite(t *testing.T, answer http.HandlerFunc, edit ...func(*source.WebConfig)) *site {
	t.Helper()
	s := &site{T: t, temp: t.TempDir()}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		header := r.Header.Clone()
		s.last.Store(&header)
		answer(w, r)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	cfg := source.WebConfig{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, UserAgent: "async-worker/test",
		TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"},
	}
	for _, e := range edit {
		e(&cfg)
	}
	web := source.NewWeb(cfg)
	t.Cleanup(web.Close)
	s.url, s.fetcher = server.URL, source.Fetcher{Web: web}
	return s
}

func (s *site) place(uri string) source.Place {
	s.Helper()
	p, problem := source.Parse(uri)
	if problem != "" {
		s.Fatalf("%s %s", uri, problem)
	}
	return p
}

const most = 1 << 20

// fetch fetches a path of the site.
func (s *site) fetch(path string, known source.Version) (*source.File, string, error) {
	s.Helper()
	f, err := s.fetcher.Fetch(s.Context(), s.place(s.url+path), source.Options{
		TempDir: s.temp, Bytes: most, Known: known, Progress: func(f float64) {
			if f < 0 || f > 1 {
				s.Errorf("progress %g", f)
			}
		},
	})
	if err != nil {
		if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
			s.Errorf("left: %v %v", left, err)
		}
		return nil, "", err
	}
	defer f.Remove()
	content, err := os.ReadFile(f.Path)
	if err != nil || int64(len(content)) != f.Size {
		s.Errorf("%d of %d bytes, %v", len(content), f.Size, err)
	}
	return f, string(content), nil
}

// wantError checks the class, the code and that the error keeps the address's secrets.
func (s *site) wantError(path string, class taskerr.Class, code, says string) *taskerr.Error {
	s.Helper()
	_, _, err := s.fetch(path, source.Version{})
	failure := taskerr.Classify(err)
	if err == nil || failure.Class != class || failure.Suffix != code || !strings.Contains(failure.Message, says) {
		s.Errorf("%s: got %s %q: %v; want %s %q that says %q", path, failure.Class, failure.Suffix, err, class, code, says)
	}
	for text := fmt.Sprintf("%v %s %v", err, failure.Hint, failure.Cause); strings.Contains(text, "s3cret"); text = "" {
		s.Errorf("%s: the error has the query: %s", path, text)
	}
	return failure
}

func TestWeb(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="Report 7.pdf"`)
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		w.Header().Set("ETag", `"v1"`)
		_, _ = io.WriteString(w, "# Hello")
	})
	f, content, err := s.fetch("/d/download?key=s3cret#page=2", source.Version{})
	if err != nil || content != "# Hello" || f.Name != "Report 7.pdf" || f.ETag != `"v1"` || f.Modified != "" ||
		f.Hint("notes") != "notes.md" || f.Hint("notes.csv") != "notes.csv" {
		t.Errorf("%+v %q %v", f, content, err)
	}
	if h := *s.last.Load(); h.Get("User-Agent") != "async-worker/test" || h.Get("If-None-Match") != "" || h.Get("Cookie") != "" {
		t.Errorf("the request: %v", h)
	}
	if name, err := s.fetcher.Name(t.Context(), s.place(s.url+"/x")); name != "Report 7.pdf" || err != nil {
		t.Errorf("the name: %q, %v", name, err)
	}
}

// An unchanged document costs one conditional request, by its ETag or its time.
func TestWebUnchanged(t *testing.T) {
	t.Parallel()
	const modified = "Wed, 21 Oct 2026 07:28:00 GMT"
	for name, header := range map[string]http.Header{
		"ETag":          {"Etag": {`W/"7"`}},
		"Last-Modified": {"Last-Modified": {modified}},
		"both":          {"Etag": {`"7"`}, "Last-Modified": {modified}},
	} {
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(w.Header(), header)
			if r.Header.Get("If-None-Match") == header.Get("ETag") && r.Header.Get("If-Modified-Since") == header.Get("Last-Modified") {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(w, "text")
		})
		f, _, err := s.fetch("/a.txt", source.Version{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, _, err := s.fetch("/a.txt", f.Version); !errors.Is(err, source.ErrUnchanged) || s.calls.Load() != 2 {
			t.Errorf("%s: %v after %d requests", name, err, s.calls.Load())
		}
	}
	// An answer that nobody asked for is not a document.
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	s.wantError("/a", taskerr.ContentMissing, "SOURCE_REJECTED", "304")
}

func TestWebStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "the text of an error page")
	})
	for status, want := range map[int]struct {
		class taskerr.Class
		code  string
	}{
		404: {taskerr.ContentMissing, ""}, 410: {taskerr.ContentMissing, ""},
		401: {taskerr.ContentMissing, "SOURCE_DENIED"}, 403: {taskerr.ContentMissing, "SOURCE_DENIED"},
		408: {taskerr.DependencyUnavailable, ""}, 429: {taskerr.DependencyUnavailable, ""},
		500: {taskerr.DependencyUnavailable, ""}, 503: {taskerr.DependencyUnavailable, ""},
		599: {taskerr.DependencyUnavailable, ""},
		204: {taskerr.ContentMissing, "SOURCE_REJECTED"}, 206: {taskerr.ContentMissing, "SOURCE_REJECTED"},
		300: {taskerr.ContentMissing, "SOURCE_REJECTED"}, 400: {taskerr.ContentMissing, "SOURCE_REJECTED"},
		451: {taskerr.ContentMissing, "SOURCE_REJECTED"},
	} {
		failure := s.wantError(fmt.Sprintf("/%d?key=s3cret", status), want.class, want.code, strconv.Itoa(status))
		if after := want.class == taskerr.DependencyUnavailable; (failure.RetryAfter == 7*time.Second) != after {
			t.Errorf("%d is to be repeated after %v", status, failure.RetryAfter)
		}
		if taskerr.Classes[failure.Class].Retryable != (want.class == taskerr.DependencyUnavailable) {
			t.Errorf("%d: class %s", status, failure.Class)
		}
	}
}

func TestWebCompressed(t *testing.T) {
	t.Parallel()
	pack := func(content []byte, w io.WriteCloser, out *bytes.Buffer) []byte {
		if _, err := w.Write(content); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	packed := func(content []byte) []byte {
		var out bytes.Buffer
		return pack(content, gzip.NewWriter(&out), &out)
	}
	var deflated bytes.Buffer
	bomb := packed(make([]byte, 64*most))
	if len(bomb) > most/4 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	bodies := map[string]struct {
		encoding string
		body     []byte
	}{
		"/gzip":     {"gzip", packed([]byte("text"))},
		"/deflate":  {"Deflate", pack([]byte("text"), zlib.NewWriter(&deflated), &deflated)},
		"/identity": {"identity", []byte("text")},
		"/bomb":     {"gzip", bomb},
		"/broken":   {"gzip", []byte("no gzip")},
		"/half":     {"gzip", packed([]byte(strings.Repeat("0123456789", 1000)))[:30]},
		"/unknown":  {"br", []byte("text")},
		"/large":    {"", make([]byte, most+1)},
	}
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		b := bodies[r.URL.Path]
		w.Header().Set("Content-Encoding", b.encoding)
		if r.URL.RawQuery == "chunked" {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(b.body)
	})
	for _, path := range []string{"/gzip", "/deflate", "/identity", "/gzip?chunked"} {
		if _, content, err := s.fetch(path, source.Version{}); content != "text" || err != nil {
			t.Errorf("%s: %q, %v", path, content, err)
		}
	}
	for _, path := range []string{"/bomb", "/large", "/large?chunked"} {
		s.wantError(path, taskerr.QuotaExceeded, "", "MAX_BLOB_MB")
	}
	for _, path := range []string{"/broken", "/half"} {
		s.wantError(path, taskerr.NetworkTimeout, "", "decompressed")
	}
	s.wantError("/unknown", taskerr.NetworkTimeout, "", "Content-Encoding")
}

// A server that cannot be trusted, or is not there, gets nothing and holds nobody.
func TestWebUnreached(t *testing.T) {
	t.Parallel()
	untrusted := newSite(t, http.NotFound, func(c *source.WebConfig) { c.TLS = nil })
	untrusted.wantError("/a?key=s3cret", taskerr.ContentMissing, "SOURCE_UNTRUSTED", "certificate")
	gone := newSite(t, http.NotFound)
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	gone.url = fmt.Sprintf("https://127.0.0.1:%d", port)
	gone.wantError("/a?key=s3cret", taskerr.NetworkTimeout, "", "connection refused")
	cut := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "half")
	})
	cut.wantError("/a?key=s3cret", taskerr.NetworkTimeout, "", "the connection broke")
	nonsense := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 s3cret\r\n\r\n")
		_ = conn.Close()
	})
	nonsense.wantError("/a?key=s3cret", taskerr.NetworkTimeout, "", "no valid answer")
	endless := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 3 * 64 << 10 / 100 {
			w.Header().Add("X-Filler", strings.Repeat("x", 100))
		}
	})
	endless.wantError("/a", taskerr.NetworkTimeout, "", "no valid answer")
}
