package front_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// strict is a body that is not asked again after its last byte. A server's would return an error by then if the
// response has begun.
type strict struct {
	*testing.T
	text *strings.Reader
}

func (s *strict) Read(b []byte) (int, error) {
	if s.text.Len() == 0 {
		s.Error("the body is read after its end")
		return 0, http.ErrBodyReadAfterClose
	}
	return s.text.Read(b)
}

func (*strict) Close() error { return nil }

// recorder takes deadlines, as a connection does.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetReadDeadline(time.Time) error  { return nil }
func (recorder) SetWriteDeadline(time.Time) error { return nil }

// A worker that has the whole body and answers at once is heard to the end: nothing reads the client's body while the
// response is on its way.
func TestBodyIsNotReadAfterItsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	answer := strings.Repeat("a long answer\n", 10_000)
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" {
			t.Errorf("the worker got %q, %v", body, err)
		}
		_, _ = io.WriteString(w, answer)
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/t/southhaven/v1/jobs", &strict{t, strings.NewReader("{}")})
	r.ContentLength = 2
	w := recorder{httptest.NewRecorder()}
	b.front.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.String() != answer {
		t.Errorf("it answered %d and %d bytes, want %d", w.Code, w.Body.Len(), len(answer))
	}
}

// stall begins a request and sends one byte of a body of two.
func (b *bench) stall() net.Conn {
	b.Helper()
	c := b.dial()
	if _, err := io.WriteString(c, "POST /t/southhaven/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"); err != nil {
		b.Fatal(err)
	}
	return c
}

func (b *bench) dial() net.Conn {
	b.Helper()
	c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", b.addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// status reads a response. Its time is far more than the answer needs: a request that holds its place for good fails.
func (b *bench) status(c net.Conn) int {
	b.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		b.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		b.Fatalf("no response: %v", err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Clients that are refused before they have sent their body, and send no more of it, get the answer and give their
// places back. They need no token for it.
func TestStalledBodyOfARefusedRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	var stalled []net.Conn
	for range front.TenantRequests {
		stalled = append(stalled, b.stall())
	}
	for _, c := range stalled {
		if got := b.status(c); got != http.StatusUnauthorized {
			t.Errorf("it answered %d", got)
		}
	}
	b.expect("/t/southhaven/v1/jobs", http.StatusOK, "")
}

// A client that stops in the middle of a body that the worker waits for is told so.
func TestStalledBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.front.SetReadLimit(100 * time.Millisecond)
	b.up("southhaven", echo("southhaven"))
	if got := b.status(b.stall()); got != http.StatusRequestTimeout {
		t.Errorf("it answered %d", got)
	}
}

// A proxy that is stopped while a worker does not answer says so: the client knows that it may look and try again.
func TestStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun := make(chan struct{})
	b.up("southhaven", func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})
	addr, stop := start(t, httpd.Config{Addr: "127.0.0.1:0", Handler: b.front, Own: func(*http.Request) bool { return true }})
	b.addr = addr
	c := b.dial()
	if _, err := io.WriteString(c, "GET /t/southhaven/v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	stop()
	if got := b.status(c); got != http.StatusServiceUnavailable {
		t.Errorf("it answered %d", got)
	}
}
