package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

// site is a web server with one document, which has an ETag.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	text     string
	etag     string
	requests []int // statuses of the answers
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("ETag", s.etag)
		w.Header().Set("Content-Type", "text/markdown")
		status := http.StatusOK
		if r.Header.Get("If-None-Match") == s.etag {
			status = http.StatusNotModified
		}
		s.requests = append(s.requests, status)
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = w.Write([]byte(s.text)) // fails only if the worker is gone
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// publish changes the document.
func (s *site) publish(text, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.etag, s.requests = text, etag, nil
}

// asked are the statuses of the answers since the document was published, or since the last call.
func (s *site) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := fmt.Sprint(s.requests)
	s.requests = nil
	return was
}

// certificate is a file with the server's certificate, for SSL_CERT_FILE.
func (s *site) certificate(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ingested is the part of a result that the tests look at.
type ingested struct {
	DocumentID string `json:"document_id"`
	Unchanged  bool   `json:"unchanged"`
	Version    int    `json:"version"`
	Listed     int    `json:"listed"`
	Submitted  int    `json:"submitted"`
	Deletions  int    `json:"deletions"`
}

// done sends an ingest task, and returns its result.
func (b *bed) done(id string, payload map[string]any) (r ingested) {
	b.t.Helper()
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": "ingest", "webhook_url": b.hooks.URL, "payload": payload,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.send(string(text))
	var hook struct {
		Result json.RawMessage `json:"result"`
	}
	got := b.await(b.ctx, id)
	if err := json.Unmarshal(got.Body, &hook); err != nil || got.Type != "task.completed" {
		b.t.Fatalf("task %s: %s, %v", id, got.Body, err)
	}
	if err := json.Unmarshal(hook.Result, &r); err != nil && payload["prefix"] == nil {
		b.t.Fatalf("task %s: %s, %v", id, hook.Result, err)
	}
	return r
}

// TestSourceURI: a document comes from the web. While its ETag stays, another task costs one request and no body; a
// blob of the tenant's container is named by blob: or its address.
func TestSourceURI(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := newBed(t, "LLM_PROVIDER=offline", "SOURCE_ALLOW_CIDRS=127.0.0.0/8", "SSL_CERT_FILE="+s.certificate(t))
	w := b.start()
	secret := "sig=" + b.client
	task := map[string]any{"source_uri": s.URL + "/tides.md?" + secret, "document_set": "web"}
	s.publish("# Tides\n\nHigh water is at noon.\n", `"one"`)
	first := b.done("first", task)
	// The task names no document: the server is asked for the name, and then for the document.
	if got := s.asked(); got != "[200 200]" || first.Unchanged || first.Version != 1 {
		t.Errorf("the first time: requests %s, %+v", got, first)
	}
	again := b.done("again", task)
	if got := s.asked(); got != "[304]" || !again.Unchanged || again.DocumentID != first.DocumentID {
		t.Errorf("unchanged: requests %s, %+v", got, again)
	}
	s.publish("# Tides\n\nHigh water is at one.\n", `"two"`)
	changed := b.done("changed", task)
	if got := s.asked(); got != "[200]" || changed.Unchanged || changed.Version != 2 {
		t.Errorf("changed: requests %s, %+v", got, changed)
	}
	expect(b, "the document's text", "# Tides\n\nHigh water is at one.", `select string_agg(c.content, '') from document_chunks c
		join documents d on d.id = c.document_id and d.client_id = c.client_id and d.active_version = c.version
		where d.client_id = $1`, b.client)
	expect(b, "rows of documents and events with the signature", 0, `select (select count(*) from documents d
		where d::text like '%' || $1 || '%')::int + (select count(*) from job_events e where e::text like '%' || $1 || '%')::int`, secret)

	b.upload("in/moon.md", []byte("# Moon\n\nThe moon is full.\n"))
	byName := b.done("by-name", map[string]any{"source_uri": "blob:in/moon.md", "document_set": "web"})
	byAddress := b.done("by-address", map[string]any{"source_uri": b.address("in/moon.md"), "document_set": "web"})
	if byName.Unchanged || !byAddress.Unchanged || byName.DocumentID != byAddress.DocumentID {
		t.Errorf("a blob by its name: %+v, and by its address: %+v", byName, byAddress)
	}
	w.endWithout(secret)
}

// TestPrefix: one job for each new or changed blob of a folder, and for each that is gone; the other blobs are not read.
func TestPrefix(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	w := b.start()
	for name, text := range map[string]string{
		"in/a.md": "# A\n\nAnchor.\n", "in/b.md": "# B\n\nBuoy.\n", "in/deep/c.md": "# C\n\nCrane.\n", "elsewhere/d.md": "# D\n",
	} {
		b.upload(name, []byte(text))
	}
	folder := map[string]any{"prefix": "in/", "document_set": "folder", "delete_missing": true}
	for _, step := range []struct {
		id                           string
		change                       func()
		listed, submitted, deletions int
		documents                    int
	}{
		{"new", func() {}, 3, 3, 0, 3},
		{"same", func() {}, 3, 0, 0, 3},
		{"changed", func() { b.upload("in/b.md", []byte("# B\n\nBeacon.\n")) }, 3, 1, 0, 3},
		{"gone", func() { b.removeBlob("in/a.md") }, 2, 0, 1, 2},
	} {
		step.change()
		got := b.done(step.id, folder)
		if got.Listed != step.listed || got.Submitted != step.submitted || got.Deletions != step.deletions {
			t.Errorf("%s: %+v", step.id, got)
		}
		b.settled()
		expect(b, step.id+": its jobs", step.submitted+step.deletions, `select count(*)::int from jobs
			where client_id = $1 and parent_job_id = $2 and status = 'succeeded'`, b.client, step.id)
		expect(b, step.id+": documents", step.documents, `select count(*)::int from documents
			where client_id = $1 and active_version is not null`, b.client)
	}
	w.endWithout("")
}

// address is the https address of a blob; the emulator's is http.
func (b *bed) address(name string) string {
	b.t.Helper()
	c, err := azblob.NewClientFromConnectionString(b.azure, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ServiceClient().NewContainerClient(b.container()).NewBlobClient(name).URL()
}

func (b *bed) removeBlob(name string) {
	b.t.Helper()
	c, err := azblob.NewClientFromConnectionString(b.azure, nil)
	if err == nil {
		_, err = c.DeleteBlob(b.ctx, b.container(), name, nil)
	}
	if err != nil {
		b.t.Fatalf("remove %s: %v", name, err)
	}
}

// endWithout ends the worker, whose log must not have a text; empty: any.
func (w *worker) endWithout(text string) {
	w.b.t.Helper()
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		w.b.t.Error(err)
	}
	if text != "" && strings.Contains(w.log.String(), text) {
		w.b.t.Errorf("the log has %q", text)
	}
}

// settled waits until no job of the tenant is to do.
func (b *bed) settled() {
	b.t.Helper()
	for query[int](b, `select count(*)::int from jobs where client_id = $1 and completed_at is null`, b.client) > 0 {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.ctx.Done():
			b.t.Fatal("jobs are left")
		}
	}
}
