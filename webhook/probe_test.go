package webhook_test

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/webhook"
)

// TestProbe: Probe connects like a delivery, is refused like one, and sends nothing.
func TestProbe(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan int, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			received <- -1
			return
		}
		n, _ := conn.Read(make([]byte, 1))
		_ = conn.Close()
		received <- n
	}()
	to := "http://" + listener.Addr().String() + "/hook?token=secret"
	mine := webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	addr, err := webhook.Probe(t.Context(), mine, to)
	if err != nil || addr.String() != listener.Addr().String() {
		t.Errorf("%v, %v", addr, err)
	}
	if n := <-received; n != 0 {
		t.Errorf("the receiver got %d bytes", n)
	}
	for rawURL, guard := range map[string]*webhook.Guard{
		to: webhook.NewGuard(nil), "ftp://example.com": mine,
		"https://user:secret@example.com": mine,
	} {
		_, err := webhook.Probe(t.Context(), guard, rawURL)
		if _, refused := errors.AsType[*webhook.RefusedError](err); !refused {
			t.Errorf("%s: %v", rawURL, err)
		}
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = webhook.Probe(t.Context(), mine, "https://"+listener.Addr().String()+"/?secret")
	if _, hasURL := errors.AsType[*url.Error](err); err == nil || hasURL || strings.Contains(err.Error(), "secret") {
		t.Errorf("nobody listens: %v", err)
	}
}
