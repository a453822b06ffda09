package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

func newSender(t *testing.T, cfg webhook.SenderConfig) *webhook.Sender {
	t.Helper()
	if cfg.Signer == nil {
		cfg.Signer = newSigner(t, newSecret)
	}
	if cfg.Guard == nil {
		cfg.Guard = webhook.NewGuard(prefixes("127.0.0.0/8", "::1/128"))
	}
	cfg.UserAgent = "async-worker/test"
	s := webhook.NewSender(cfg)
	t.Cleanup(s.Close)
	return s
}

func receiver(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

func delivery(url string) store.Delivery {
	return store.Delivery{ID: "msg_1", JobID: "t-1", URL: url, Body: `{"type":"task.completed"}`}
}

func TestSendSigned(t *testing.T) {
	t.Parallel()
	server := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verify(t, newSecret, body, r.Header)
		}
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("User-Agent") != "async-worker/test" || r.URL.RequestURI() != "/hook?token=x":
			http.Error(w, "unexpected request", http.StatusBadRequest)
		default:
			_, _ = w.Write([]byte("thanks"))
		}
	})
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(server.URL+"/hook?token=x"))
	if a.Err != nil || a.Status != 200 || a.Response != "thanks" || a.Latency <= 0 {
		t.Errorf("got %+v", a)
	}
}

// A receiver that is busy for a moment gets the same delivery again within the attempt, signed for each request.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verify(t, newSecret, body, r.Header)
		}
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case calls.Add(1) < 3:
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(server.URL))
	if a.Err != nil || a.Status != 200 || calls.Load() != 3 {
		t.Errorf("%d requests: %+v", calls.Load(), a)
	}
}

func TestSendHTTPS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusting := newSender(t, webhook.SenderConfig{TLS: &tls.Config{RootCAs: roots}})
	if a := trusting.Send(t.Context(), delivery(server.URL)); a.Err != nil || a.Status != 204 {
		t.Errorf("got %+v", a)
	}
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(server.URL+"/?token=secret"))
	if a.Err == nil || strings.Contains(a.Err.Error(), "secret") {
		t.Errorf("an unknown certificate: got %+v", a)
	}
	guarded := newSender(t, webhook.SenderConfig{TLS: &tls.Config{RootCAs: roots}, Guard: webhook.NewGuard(nil)})
	if a := guarded.Send(t.Context(), delivery(server.URL)); !refused(a) {
		t.Errorf("loopback by https: got %+v, want it refused", a)
	}
}

func refused(a webhook.Attempt) bool {
	_, ok := errors.AsType[*webhook.RefusedError](a.Err)
	return ok
}

// Redirects are not followed, were it to a place that could be reached.
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

// Every way to spell loopback ends at the guard, and none at the server.
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
			t.Errorf("%s: the error repeats a secret: %v", url, a.Err)
		}
	}
	// Not even where the address is allowed.
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery("http://user:secret@127.0.0.1:"+port))
	if !refused(a) || strings.Contains(a.Err.Error(), "secret") {
		t.Errorf("a user name: got %+v", a)
	}
	// An id with a dot, signed, could be another id's delivery of another time.
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

// A proxy would dial in our stead, and unguarded.
func TestSendWithoutProxy(t *testing.T) {
	var reached atomic.Bool
	proxy := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	// A name that does not resolve: only a proxy could answer for it.
	a := newSender(t, webhook.SenderConfig{Resolver: answering(t, nil)}).Send(t.Context(),
		delivery("http://hook.example.test/"))
	if a.Err == nil || reached.Load() {
		t.Errorf("got %+v", a)
	}
}

// answering is a resolver whose server gives the addresses one after the other, the last one for ever;
// without any, there is no such name.
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

// A name that points to an allowed address at first, and elsewhere later, is refused then: what counts
// is the address that is dialled.
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

func TestSendAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   func(webhook.Attempt) bool
	}{
		"huge body": {
			func(w http.ResponseWriter, _ *http.Request) {
				for range 1 << 12 {
					if _, err := w.Write([]byte(strings.Repeat("€", 1<<10))); err != nil {
						return // the sender has hung up, as it should
					}
				}
			},
			func(a webhook.Attempt) bool {
				return a.Status == 200 && len(a.Response) <= 1024 && len(a.Response) > 1000 &&
					utf8.ValidString(a.Response)
			},
		},
		"binary body": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a\x00b\xff")) },
			func(a webhook.Attempt) bool { return a.Response == "a?b?" },
		},
		"body breaks off": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
			},
			func(a webhook.Attempt) bool { return a.Status == 200 && a.Err == nil && a.Response == "half" },
		},
		"Retry-After": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "120")
				w.WriteHeader(http.StatusServiceUnavailable)
			},
			func(a webhook.Attempt) bool { return a.Status == 503 && a.RetryAfter == 2*time.Minute },
		},
		"Retry-After, a date": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
				w.WriteHeader(http.StatusTooManyRequests)
			},
			func(a webhook.Attempt) bool { return a.RetryAfter > 50*time.Minute && a.RetryAfter < 70*time.Minute },
		},
		"Retry-After, nonsense": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "-7")
				w.WriteHeader(http.StatusTooManyRequests)
			},
			func(a webhook.Attempt) bool { return a.RetryAfter == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := receiver(t, c.answer)
			if a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(server.URL)); !c.want(a) {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// A receiver that never answers, and one that never ends its answer, hold an attempt no longer than
// its timeout; the status, once there, counts.
func TestSendSlow(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"no answer": 0, "no end": 202} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := receiver(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if status != 0 {
					w.WriteHeader(status)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			})
			s := newSender(t, webhook.SenderConfig{Timeout: 200 * time.Millisecond})
			a := s.Send(t.Context(), delivery(server.URL))
			if a.Status != status || (status == 0) != (a.Err != nil) {
				t.Errorf("got %+v", a)
			}
			if a.Err != nil && !strings.Contains(a.Err.Error(), "longer than 200ms") {
				t.Errorf("got %v", a.Err)
			}
		})
	}
}

func TestSendUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(server.URL+"/path?token=secret"))
	if a.Err == nil || refused(a) || !strings.Contains(a.Err.Error(), "refused") ||
		strings.Contains(a.Err.Error(), "secret") {
		t.Errorf("got %v", a.Err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("we are closing"))
	if a := newSender(t, webhook.SenderConfig{}).Send(ctx, delivery(server.URL)); a.Err == nil ||
		a.Err.Error() != "we are closing" {
		t.Errorf("got %v", a.Err)
	}
}
