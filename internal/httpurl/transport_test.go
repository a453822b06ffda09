package httpurl_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/stack/pipetest"
)

// flow is a connection that a firewall may forget: what is written then gets lost, and nobody is told.
type flow struct {
	net.Conn
	lost *atomic.Bool
}

func (f flow) Write(b []byte) (int, error) {
	if f.lost.Load() {
		return len(b), nil
	}
	return f.Conn.Write(b)
}

// A connection of HTTP/2 that has died in silence is given up, and the next request uses another.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := new(pipetest.Network)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		}))
		_ = server.Listener.Close()
		server.Listener, server.EnableHTTP2 = network.Listen("127.0.0.1:443"), true
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		server.StartTLS()
		defer server.Close()

		var last *atomic.Bool // of the latest connection
		transport := httpurl.Transport()
		defer transport.CloseIdleConnections()
		transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := network.Dial(ctx)
			last = new(atomic.Bool)
			return flow{c, last}, err
		}
		get := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := (&http.Client{Transport: transport}).Do(request)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.ProtoMajor != 2 {
				t.Errorf("the answer is of %s, want HTTP/2", answer.Proto)
			}
			_, err = io.ReadAll(answer.Body)
			return err
		}
		if err := get(); err != nil {
			t.Fatal(err)
		}
		last.Store(true)
		begun := time.Now()
		for get() != nil {
			if time.Since(begun) > 40*time.Second {
				t.Fatal("a dead connection is still used")
			}
		}
	})
}
