package front_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// stream is an open stream of events through the proxy.
type stream struct {
	*testing.T
	lines *bufio.Reader
}

func (b *bench) stream(path string) *stream {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+b.addr+path, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s", path, resp.Status)
	}
	return &stream{b.T, bufio.NewReader(resp.Body)}
}

func (s *stream) expect(want string) {
	s.Helper()
	if line, err := s.lines.ReadString('\n'); line != want+"\n" || err != nil {
		s.Fatalf("got %q, %v; want %q", line, err, want)
	}
}

// A stream is handed on as it comes: the worker writes the second event after the client has read the first. When the
// worker goes, the stream breaks; until it is back, its tenant is a 502 with Retry-After, and then all is as before.
func TestStreamAndRestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("east-bay", echo("east-bay"))
	next, done := make(chan string), make(chan struct{}, 1)
	events := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case text := <-next:
				_, _ = fmt.Fprintln(w, text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				select {
				case done <- struct{}{}:
				default: // another request reached the worker while it stopped
				}
				return
			}
		}
	}
	stop := b.worker("southhaven", events)
	go func() { next <- "one" }()
	s := b.stream("/t/southhaven/v1/events")
	s.expect("one")
	next <- "two"
	s.expect("two")
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	<-done
	if line, err := s.lines.ReadString('\n'); err == nil {
		t.Errorf("after the worker ended: %q", line)
	}
	<-stopped
	for gone := range 2 { // its folder goes, too
		resp := b.expect("/t/southhaven/v1/jobs", 502, "TENANT_UNAVAILABLE")
		if resp.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After: %q", resp.Header.Get("Retry-After"))
		}
		b.expect("/t/east-bay/v1/jobs", 200, "")
		if gone == 0 {
			if err := os.RemoveAll(filepath.Join(b.runtime, "southhaven")); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.up("southhaven", echo("southhaven"))
	b.expect("/t/southhaven/v1/jobs", 200, "")
}

// A client that leaves ends the worker's request.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ended := make(chan struct{})
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+"/t/southhaven/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
}
