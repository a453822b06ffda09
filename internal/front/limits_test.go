package front_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/front"
)

// A tenant whose socket takes connections and never answers fills its own share, and the others are served.
func TestHanging(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("east-bay", echo("east-bay"))
	if err := os.MkdirAll(filepath.Join(b.runtime, "southhaven"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", b.socket("southhaven"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	left := make(chan struct{}, front.TenantRequests)
	for range front.TenantRequests {
		go func() {
			defer func() { left <- struct{}{} }()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+"/t/southhaven/v1/jobs", http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			if resp, err := client.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Errorf("it answered %s", resp.Status)
			}
		}()
	}
	var held []net.Conn
	for range front.TenantRequests {
		c, err := l.Accept() // a request of it has arrived
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if resp := b.expect("/t/southhaven/v1/jobs", 503, "TENANT_BUSY"); resp.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for range 200 {
		b.expect("/t/east-bay/v1/jobs", 200, "")
	}
	cancel()
	for range front.TenantRequests {
		<-left
	}
	for _, c := range held {
		_ = c.Close()
	}
}

// Who keeps requests waiting that anybody may make takes no place of others.
func TestStrangers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun := make(chan struct{}, front.TenantRequests)
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			begun <- struct{}{}
			_ = r.ParseForm() // it waits
		}
	})
	const most = 16
	for i := range front.TenantRequests {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, "POST /t/southhaven/login HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if i < most {
			<-begun
		}
	}
	b.expect("/t/southhaven/login", 503, "TENANT_BUSY")
	b.expect("/t/southhaven/v1/jobs", 200, "")
}

// Bodies are bounded, with and without a length.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", echo("southhaven"))
	resp, _ := b.raw("POST /t/southhaven/v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n")
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("with a length: %s", resp.Status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+b.addr+"/t/southhaven/v1/jobs",
		io.LimitReader(zeros{}, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	resp, err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("without a length: %s", resp.Status)
	}
}

// A worker that answers before it has read the body is heard.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for _, size := range []int64{1, 200 << 10, 30 << 20} {
		for range 10 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+b.addr+"/t/southhaven/v1/jobs",
				io.LimitReader(zeros{}, size))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = size
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err != nil { // the connection was closed before the client had sent it all
				if size <= 200<<10 {
					t.Errorf("%d bytes: %v", size, err)
				}
				continue
			}
			if _ = resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%d bytes: %s", size, resp.Status)
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
