package webhook_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// The row, which a tenant reads, has the kind of failure without addresses, names or resolvers. The operator's log has
// the details.
func TestRowsHaveNoAddress(t *testing.T) {
	t.Parallel()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	cut, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cut.Close() })
	go func() {
		for {
			c, err := cut.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096)) // the request, which gets no answer
			_ = c.Close()
		}
	}()
	guarded := newSender(t, webhook.SenderConfig{Guard: webhook.NewGuard(nil)})
	open := newSender(t, webhook.SenderConfig{TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
	for name, c := range map[string]struct {
		sender *webhook.Sender
		url    string
		says   string
		down   bool // the host
	}{
		"nobody listens":  {open, "http://127.0.0.1:1", "connection refused", true},
		"untrusted":       {open, untrusted.URL, "TLS failed", true},
		"cut off":         {open, "http://" + cut.Addr().String(), "connection broke", false},
		"no such name":    {open, "https://no-such-name.invalid/", "name can't be resolved", true},
		"private address": {guarded, "https://127.0.0.1:1/", "address that may not be called", false},
		"by its name":     {guarded, "https://localhost:1/", "address that may not be called", false},
	} {
		a := c.sender.Send(t.Context(), delivery(c.url))
		if a.Unreachable != c.down {
			t.Errorf("%s: unreachable is %t: %v", name, a.Unreachable, a.Err)
		}
		box := &outbox{}
		var row row
		synctest.Test(t, func(t *testing.T) {
			r := box.add("a", c.url)
			_, stop := run(t, webhook.Config{Deliveries: box, Sender: always(a)})
			synctest.Wait()
			stop()
			row = box.state(r)
		})
		text := row.history[0].Error
		if !strings.Contains(text, c.says) {
			t.Errorf("%s: %q, want %q", name, text, c.says)
		}
		for _, leak := range []string{
			"127.0.0.1", "::1", "dial", "lookup", "invalid", "loopback", "private",
			"localhost", "x509", ":53",
		} {
			if strings.Contains(text, leak) {
				t.Errorf("%s: the row says %q", name, text)
			}
		}
		if want := map[bool]string{true: store.HostDown}[c.down]; row.history[0].Down != want {
			t.Errorf("%s: down is %q, want %q", name, row.history[0].Down, want)
		}
	}
}
