package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

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

// A briefly busy receiver gets the same delivery again within the attempt, signed for each request.
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

// A webhook that is sent once is one request, and has failed without a 2xx.
func TestSendOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	d := delivery(server.URL)
	d.Once = true
	if a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), d); a.Status != 503 || calls.Load() != 1 {
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
						return // the sender has closed the connection, as it should
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

// A receiver that never answers, or never ends its answer, blocks an attempt only until its timeout. A received status
// counts.
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
			var a webhook.Attempt
			for limit := 200 * time.Millisecond; limit < time.Minute; limit *= 4 { // a busy machine takes longer for the status
				a = newSender(t, webhook.SenderConfig{Timeout: limit}).Send(t.Context(), delivery(server.URL))
				if a.Status == status {
					break
				}
			}
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
	const nobody = "http://127.0.0.1:1"
	a := newSender(t, webhook.SenderConfig{}).Send(t.Context(), delivery(nobody+"/path?token=secret"))
	if a.Err == nil || refused(a) || !strings.Contains(a.Err.Error(), "refused") ||
		strings.Contains(a.Err.Error(), "secret") {
		t.Errorf("got %v", a.Err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("we are closing"))
	if a := newSender(t, webhook.SenderConfig{}).Send(ctx, delivery(nobody)); a.Err == nil ||
		a.Err.Error() != "we are closing" {
		t.Errorf("got %v", a.Err)
	}
}

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}
