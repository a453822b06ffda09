package azure_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/azure"
)

// dropper is a TCP proxy to Azurite that, while dropping, forwards each request and then closes the connection instead
// of returning the response.
type dropper struct {
	listener net.Listener
	target   string
	dropping atomic.Bool
	requests atomic.Int64 // that went to Azurite while dropping
	wg       sync.WaitGroup
}

func startDropper(t *testing.T, target string) *dropper {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	d := &dropper{listener: l, target: target}
	d.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.wg.Go(func() { d.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		d.wg.Wait()
	})
	return d
}

func (d *dropper) serve(conn net.Conn) {
	defer conn.Close()
	requests := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		req.URL.Scheme, req.URL.Host, req.RequestURI = "http", d.target, ""
		req.Close = true
		dropping := d.dropping.Load()
		if dropping {
			d.requests.Add(1)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return
		}
		if dropping {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			return
		}
		resp.Close = false
		err = resp.Write(conn)
		_ = resp.Body.Close()
		if err != nil {
			return
		}
	}
}

// net/http resends a GET by itself if a reused connection breaks without a response; the SDK resends on any fault. Both
// would hide a second batch.
func TestADequeueIsSentOnce(t *testing.T) {
	t.Parallel()
	connectionString := stacktest.Azurite(t)
	endpoint := regexp.MustCompile(`QueueEndpoint=http://([^/]+)/`)
	d := startDropper(t, endpoint.FindStringSubmatch(connectionString)[1])
	c := &counter{n: map[string]int{}}
	s := open(t, endpoint.ReplaceAllString(connectionString, "QueueEndpoint=http://"+d.listener.Addr().String()+"/"),
		azure.Options{OnRequest: c.count})
	t.Cleanup(func() { _ = s.Close() })
	q := s.Queue(stacktest.UniqueName("once"))
	must(t, q.Ensure(t.Context()))
	for range 4 {
		_, err := q.Send(t.Context(), "x", queue.SendOptions{})
		must(t, err)
	}
	d.dropping.Store(true) // the connection has been used
	if got, err := q.Receive(t.Context(), 2, time.Hour); err == nil {
		t.Fatalf("received %d messages through a proxy that drops answers", len(got))
	} else if _, ok := errors.AsType[*taskerr.Error](err); !ok {
		t.Errorf("got %v, want a *taskerr.Error", err)
	}
	if n := d.requests.Load(); n != 1 {
		t.Errorf("the dequeue was sent %d times", n)
	}
	c.want(t, "receive uncertain", 1)
	d.dropping.Store(false)
	if got, err := q.Receive(t.Context(), 4, time.Hour); err != nil || len(got) != 2 {
		t.Errorf("then received %d, %v; want the 2 that were not hidden", len(got), err)
	}
}
