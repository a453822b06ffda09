package azure_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/blobtest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

func open(t *testing.T, o azure.Options) *azure.Bucket {
	t.Helper()
	creds, err := storage.FromConnectionString(stacktest.Azurite(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := azure.Open(creds, stacktest.UniqueName("blobs"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket { return open(t, azure.Options{}) })
}

// breaking breaks the first stream of a blob after some bytes.
type breaking struct {
	next  http.RoundTripper
	after int64
	hang  bool // stall instead of breaking off
	gets  atomic.Int64
	then  func() // runs before the second GET
}

func (b *breaking) RoundTrip(req *http.Request) (*http.Response, error) {
	isGet := req.Method == http.MethodGet && req.URL.Query().Get("restype") == ""
	n := int64(0)
	if isGet {
		n = b.gets.Add(1)
		if n == 2 && b.then != nil {
			b.then()
		}
	}
	resp, err := b.next.RoundTrip(req)
	if err == nil && n == 1 {
		resp.Body = &cut{ReadCloser: resp.Body, left: b.after, hang: b.hang, closed: make(chan struct{})}
	}
	return resp, err
}

func (b *breaking) CloseIdleConnections() { (&http.Client{Transport: b.next}).CloseIdleConnections() }

type cut struct {
	io.ReadCloser
	left   int64
	hang   bool
	closed chan struct{}
	ended  atomic.Bool
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 {
		if c.hang {
			<-c.closed
		}
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *cut) Close() error {
	if !c.ended.Swap(true) {
		close(c.closed)
	}
	return c.ReadCloser.Close()
}

func TestAStreamResumesWhereItBroke(t *testing.T) {
	t.Parallel()
	for _, hang := range []bool{false, true} {
		var stall time.Duration // the default
		if hang {
			stall = 5 * time.Second
		}
		transport := &breaking{next: storage.Transport(2), after: 1234567, hang: hang}
		b := open(t, azure.Options{Transport: transport, Stall: stall})
		if err := b.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		content := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		if _, err := b.Put(t.Context(), "a.bin", bytes.NewReader(content), ""); err != nil {
			t.Fatal(err)
		}
		_, r, err := b.Open(t.Context(), "a.bin")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		// On a busy machine a request that goes on may seem to stall, too.
		if gets := transport.gets.Load(); err != nil || !bytes.Equal(got, content) || gets < 2 || gets > 2 && !hang {
			t.Errorf("hanging %v: read %d bytes in %d requests, %v", hang, len(got), gets, err)
		}
		_ = r.Close()
	}
}

func TestAStreamThatBreaksDuringAnOverwriteHasChanged(t *testing.T) {
	t.Parallel()
	transport := &breaking{next: storage.Transport(2), after: 1000}
	b := open(t, azure.Options{Transport: transport})
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	put := func(content string) {
		if _, err := b.Put(t.Context(), "a.txt", strings.NewReader(content), ""); err != nil {
			t.Error(err)
		}
	}
	put(strings.Repeat("1", 5000))
	transport.then = func() { put(strings.Repeat("2", 5000)) }
	_, r, err := b.Open(t.Context(), "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); !errors.Is(err, blob.ErrChanged) || strings.Contains(string(got), "2") {
		t.Errorf("read %d bytes, then %v; want ErrChanged", len(got), err)
	}
}

func TestAMissingContainerIsASettingAndNoMissingBlob(t *testing.T) {
	t.Parallel()
	_, err := open(t, azure.Options{}).Stat(t.Context(), "a.txt")
	p, ok := errors.AsType[*storage.Problem](err)
	if !ok || p.Kind != storage.Setting || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("got %v, want a problem with a setting", err)
	}
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || !taskerr.Classes[e.Class].Retryable {
		t.Errorf("got %v, want a retryable class: the sender did nothing wrong", err)
	}
}
