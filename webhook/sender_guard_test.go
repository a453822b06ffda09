package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed-7227ef26/async-worker/webhook"
)

func refused(a webhook.Attempt) bool {
	_, ok := errors.AsType[*webhook.RefusedError](a.Err)
	return ok
}

// Redirects are not followed, even to an allowed address.
func TestSendRedirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	inner := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		outer := receiver(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inner.URL, status)
		})
		if a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(outer.URL)); a.Status != status ||
			a.Err != nil {
			t.Errorf("%d: got %+v", status, a)
		}
	}
	if reached.Load() {
		t.Error("a redirect was followed")
	}
}

// The guard stops every spelling of loopback; none reaches the server.
func TestSendRefused(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	server := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	guarded := newSender(t, webhook.SenderConfig{Guard: webhook.NewGuard(prefixes("10.0.0.0/8"))})
	for _, url := range []string{
		"http://127.0.0.1:" + port, "https://127.0.0.1:" + port, "http://localhost:" + port,
		"http://127.1.2.3:" + port, "http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"http://[::ffff:7f00:1]:" + port, "http://0.0.0.0:" + port, "http://[::]:" + port,
		"ftp://127.0.0.1:" + port, "http://user:secret@127.0.0.1:" + port, "http://", "://",
		"http://169.254.169.254/metadata/identity/oauth2/token", "https://168.63.129.16/",
	} {
		a := guarded.Send(t.Context(), delivery(url))
		if !refused(a) {
			t.Errorf("%s: got %+v, want it refused", url, a)
		}
		if a.Err != nil && strings.Contains(a.Err.Error(), "secret") {
			t.Errorf("%s: the error contains a secret: %v", url, a.Err)
		}
	}
	// A user name is refused even at an allowed address.
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery("http://user:secret@127.0.0.1:"+port))
	if !refused(a) || strings.Contains(a.Err.Error(), "secret") {
		t.Errorf("a user name: got %+v", a)
	}
	// A signature for an id with a dot could be valid for another id at another time.
	for _, id := range []string{"", "msg.1", "msg_1.1700000000", "msg_1\n", "m\u00fcg", strings.Repeat("m", 129)} {
		d := delivery("http://127.0.0.1:" + port)
		d.ID = id
		if a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), d); !refused(a) {
			t.Errorf("the id %q: got %+v, want it refused", id, a)
		}
	}
	if reached.Load() {
		t.Error("the server was reached")
	}
}

// A proxy would dial without the guard.
func TestSendWithoutProxy(t *testing.T) {
	var reached atomic.Bool
	proxy := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	// Only a proxy could answer for a name that does not resolve.
	a := newSender(t, webhook.SenderConfig{Resolver: answering(t, nil)}).Send(t.Context(),
		delivery("http://hook.example.test/"))
	if a.Err == nil || reached.Load() {
		t.Errorf("got %+v", a)
	}
}

// answering returns a resolver whose server returns one address after the other and repeats the last one. Without
// addresses the name does not exist.
func answering(t *testing.T, addrs [][4]byte) *net.Resolver {
	t.Helper()
	var listen net.ListenConfig
	server, err := listen.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		next := 0
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			switch {
			case len(addrs) == 0:
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addrs[min(next, len(addrs)-1)]},
				}}
				next++
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// A name that resolves to an allowed address first and to another one later is refused then: the dialled address
// counts.
func TestSendRebinding(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Connection", "close")
	})
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	sender := newSender(t, webhook.SenderConfig{
		Guard:    webhook.NewGuard(prefixes("127.0.0.1/32")),
		Resolver: answering(t, [][4]byte{{127, 0, 0, 1}, {127, 0, 0, 2}}),
	})
	d := delivery("http://hook.example.test:" + port)
	if a := sender.Send(t.Context(), d); a.Status != 200 {
		t.Fatalf("the first: got %+v", a)
	}
	if a := sender.Send(t.Context(), d); !refused(a) {
		t.Errorf("the second: got %+v, want it refused", a)
	}
	if calls.Load() != 1 {
		t.Errorf("the server was reached %d times", calls.Load())
	}
}
