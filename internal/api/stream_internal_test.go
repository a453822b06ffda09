package api

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// deadlines is a recorder whose connection has write deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Duration
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, time.Until(t))
	return nil
}

// A quiet stream sends a comment from time to time, and each write has a deadline. It ends with the right of the caller.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(feed.Config{Store: memory.Reader{Store: memory.New()}})
		defer f.Close()
		a := &API{deps: Deps{Feed: f, Log: slog.New(slog.DiscardHandler)}, limits: newLimits(), auth: &authenticator{}}
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/events", nil)
		hc := humago.NewContext(&huma.Operation{}, r, w)
		ctx := huma.WithValue(hc, principalKey{}, Principal{Subject: "s", Expires: time.Now().Add(65 * time.Second)}).Context()
		l := f.Follow(store.FeedPosition{})
		resp, err := a.stream(ctx, l, func(s *Stream) error {
			for {
				if _, err := s.Next(l); err != nil {
					return err
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body(hc)
		if n := strings.Count(w.Body.String(), ": heartbeat\n\n"); n != 4 {
			t.Errorf("%d heartbeats in 65 s: %q", n, w.Body.String())
		}
		for _, d := range w.set {
			if d != writeLimit {
				t.Errorf("a write may take %v", d)
			}
		}
		if len(w.set) < 5 || f.Listeners() != 0 || a.limits.streams != 0 {
			t.Errorf("%d writes, %d listeners, %d streams", len(w.set), f.Listeners(), a.limits.streams)
		}
	})
}

// There is a limit of streams, and each that ends makes room. No caller can take all of them.
func TestStreamLimit(t *testing.T) {
	t.Parallel()
	f := feed.New(feed.Config{Store: memory.Reader{Store: memory.New()}})
	defer f.Close()
	a := &API{deps: Deps{Feed: f}, limits: newLimits(), auth: &authenticator{}}
	many := func(caller string) (n int) {
		for a.limits.beginStream(caller) {
			n++
		}
		return n
	}
	if n := many("greedy"); n != maxStreams-lastStreams {
		t.Errorf("one caller has %d streams", n)
	}
	for i := range lastStreams / fewStreams {
		if n := many(fmt.Sprint("caller-", i)); n != fewStreams {
			t.Errorf("another one has %d streams", n)
		}
	}
	if _, err := a.stream(t.Context(), f.Watch("j", 0), nil); err == nil || describe(err).Code != "TOO_MANY_STREAMS" {
		t.Errorf("one too many: %v", err)
	}
	a.limits.endStream("greedy")
	if _, err := a.stream(t.Context(), f.Watch("j", 0), nil); err != nil {
		t.Errorf("one has ended: %v", err)
	}
	for range maxStreams - lastStreams - 1 {
		a.limits.endStream("greedy")
	}
	if _, kept := a.limits.streamsOf["greedy"]; kept {
		t.Error("a caller without streams is remembered")
	}
}

// A carriage return ends a line of a stream, too: a text with one must not end its event and begin another.
func TestEventOfLines(t *testing.T) {
	t.Parallel()
	var s Stream
	s.Event("7", "", []byte("a\r\revent: ended\rdata: x\r\n\r\nb\n"))
	const want = "id: 7\ndata: a\ndata: \ndata: event: ended\ndata: data: x\ndata: \ndata: b\n\n"
	if got := s.buf.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
