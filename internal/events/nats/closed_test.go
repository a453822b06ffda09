package nats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	sink "github.com/seed-7227ef26/async-worker/internal/events/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// TestClosedByTheServer: an event that is larger than a limit that was lowered meanwhile closes the connection for good;
// the next request makes another, which knows the limit.
func TestClosedByTheServer(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	stream := makeStream(t, natstest.Connect(t, srv.URL()), jetstream.StreamConfig{})
	s := open(t, sink.Options{URL: srv.URL()})
	small, large := page(t, 1, 2, nil), page(t, 1, 1, nil)
	large[0].Body = []byte(strings.Repeat("x", 20<<10))
	if sent, err := s.Send(t.Context(), small[:1]); err != nil || sent.Done != 1 {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	srv.Reload(func(o *server.Options) { o.MaxPayload = 8 << 10 })
	if sent, err := s.Send(t.Context(), large); err == nil || sent.Done != 0 {
		t.Errorf("by the connection that knows the former limit: sent %+v, %v", sent, err)
	}
	if sent, err := s.Send(t.Context(), small[1:]); err != nil || sent.Done != 1 {
		t.Errorf("by the next: sent %+v, %v", sent, err)
	}
	if got := messages(t, stream); len(got) != 2 {
		t.Errorf("the stream has %d messages, want 2", len(got))
	}
}

// TestSendAfterClose: a sink that was closed makes no connection, which nobody would close.
func TestSendAfterClose(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	s := open(t, sink.Options{URL: srv.URL()})
	all := page(t, 1, 1, nil)
	if _, err := s.Send(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if sent, err := s.Send(t.Context(), all); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("sent %+v, %v", sent, err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("probed: %v", err)
	}
}
