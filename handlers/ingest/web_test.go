package ingest_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// site is an https server with one document.
type site struct {
	url string

	mu       sync.Mutex
	content  string
	version  int
	name     string   // in Content-Disposition
	requests []string // what was asked for: the status of the answer
	answer   int      // zero: as the request asks for
}

func newSite(t *testing.T) (*site, func(*ingest.Deps)) {
	t.Helper()
	s := &site{version: 1, name: "handbook.md"}
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	web := source.NewWeb(source.WebConfig{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, TLS: &tls.Config{RootCAs: roots},
	})
	t.Cleanup(web.Close)
	return s, func(d *ingest.Deps) { d.Web = web }
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	etag, status := fmt.Sprintf(`"v%d"`, s.version), s.answer
	w.Header().Set("ETag", etag)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", s.name))
	if status == 0 {
		status = http.StatusOK
		if r.Header.Get("If-None-Match") == etag {
			status = http.StatusNotModified
		}
	}
	s.requests = append(s.requests, fmt.Sprint(status))
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = io.WriteString(w, s.content)
	}
}

func (s *site) set(content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = content
	s.version++
}

// asked returns the answers since the last call.
func (s *site) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.requests, " ")
	s.requests = nil
	return all
}

// A document of the web that has not changed costs one conditional request, and a changed one its download.
func TestWeb(t *testing.T) {
	t.Parallel()
	s, edit := newSite(t)
	b := newBench(t, edit)
	s.set(text(5))
	payload := `{"document_set":"docs","filename":"handbook.md","source_uri":"` + s.url + `/d?key=s3cret"}`
	first := b.ingest(payload, task.Hints{})
	if first.Filename != "handbook.md" || first.Chunks < 5 || first.Unchanged || s.asked() != "200" {
		t.Errorf("first: %+v", first)
	}
	if r := b.ingest(payload, task.Hints{}); !r.Unchanged || r.Version != 1 || s.asked() != "304" {
		t.Errorf("unchanged: %+v", r)
	}
	s.set(text(5, 2))
	if r := b.ingest(payload, task.Hints{}); r.Unchanged || r.Version != 2 || s.asked() != "200" {
		t.Errorf("changed: %+v", r)
	}
	if r := b.ingest(payload, task.Hints{Force: true}); r.Unchanged || s.asked() != "200" {
		t.Errorf("forced: %+v", r)
	}
	// Another query is another document: its ETag says nothing about this one.
	other := strings.Replace(payload, "?key=s3cret", "?key=other", 1)
	if r := b.ingest(other, task.Hints{}); !r.Unchanged || s.asked() != "200" {
		t.Errorf("another address with the same bytes: %+v", r)
	}
	if blob := handlertest.Query[string](b.Bench, "select blob from documents"); strings.Contains(blob, "other") ||
		!strings.HasPrefix(blob, s.url+"/d?") {
		t.Errorf("the row names %q", blob)
	}
}

// A name that only the server knows is asked for once. Later it is the name that the document has.
func TestWebName(t *testing.T) {
	t.Parallel()
	s, edit := newSite(t)
	b := newBench(t, edit)
	s.set(text(3))
	payload := `{"document_set":"docs","source_uri":"` + s.url + `/download"}`
	if r := b.ingest(payload, task.Hints{}); r.Filename != "handbook.md" || r.Version != 1 || s.asked() != "200 200" {
		t.Errorf("first: %+v", r)
	}
	s.mu.Lock()
	s.name = "renamed.md"
	s.mu.Unlock()
	if r := b.ingest(payload, task.Hints{}); r.Filename != "handbook.md" || !r.Unchanged || s.asked() != "304" {
		t.Errorf("unchanged: %+v", r)
	}
	elsewhere := strings.Replace(payload, "docs", "others", 1)
	if r := b.ingest(elsewhere, task.Hints{}); r.Filename != "renamed.md" || s.asked() != "200 200" {
		t.Errorf("in another set: %+v", r)
	}
}

// The next attempt uses the name that the first one got, whatever the server says by then.
func TestWebNameIsKept(t *testing.T) {
	t.Parallel()
	s, edit := newSite(t)
	b := newBench(t, edit)
	s.set(text(3))
	c := b.Begin(`{"document_set":"docs","source_uri":"`+s.url+`/download"}`, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); err != nil { // the worker dies before the commit
		t.Fatal(err)
	}
	c.Checkpoint = c.Progress.(*handlertest.Progress).Pending
	s.mu.Lock()
	s.name = "renamed.md"
	s.mu.Unlock()
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.complete(c, out); r.Filename != "handbook.md" || s.asked() != "200 200 200" {
		t.Errorf("%+v", r)
	}
}

// What the web refuses keeps the old version.
func TestWebFailures(t *testing.T) {
	t.Parallel()
	s, edit := newSite(t)
	b := newBench(t, edit)
	s.set(text(3))
	payload := `{"document_set":"docs","filename":"handbook.md","source_uri":"` + s.url + `/d?key=s3cret"}`
	b.ingest(payload, task.Hints{})
	for status, want := range map[int]taskerr.Class{
		404: taskerr.ContentMissing, 403: taskerr.ContentMissing, 503: taskerr.DependencyUnavailable,
	} {
		s.mu.Lock()
		s.answer = status
		s.mu.Unlock()
		c := b.Begin(payload, task.Hints{})
		_, err := b.handler.Handle(t.Context(), c)
		if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Class != want ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v", status, err)
		}
		if _, err := b.Store.Release(t.Context(), store.Release{Holder: c.Holder, Waits: true}); err != nil {
			t.Fatal(err)
		}
	}
	if n := handlertest.Query[int](b.Bench, "select active_version from documents"); n != 1 {
		t.Errorf("version %d is active", n)
	}
	b.CheckTemp()
}

// Addresses that end in the same name are one document, which is said when it comes from another one. A new signature is
// no other address.
func TestSameNameElsewhere(t *testing.T) {
	t.Parallel()
	s, edit := newSite(t)
	b := newBench(t, edit)
	for i, c := range []struct {
		at   string
		said bool
	}{{"/a/handbook?sig=1", false}, {"/a/handbook?sig=2", false}, {"/b/handbook", true}, {"/b/handbook", false}} {
		s.set(text(5, i))
		r := b.ingest(`{"document_set":"docs","source_uri":"`+s.url+c.at+`"}`, task.Hints{})
		if r.Filename != "handbook.md" || strings.Contains(fmt.Sprint(r.Warnings), "another address") != c.said {
			t.Errorf("%s: %+v", c.at, r)
		}
	}
}
