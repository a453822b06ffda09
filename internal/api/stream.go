package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-7227ef26/async-worker/internal/feed"
)

// Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html has them.
const (
	eventStream = "text/event-stream"
	heartbeat   = 15 * time.Second // between two comments, so that proxies keep the connection
	writeLimit  = 20 * time.Second // for what is sent at once: a client that does not read is let go
	retryAfter  = "2000"           // milliseconds, for EventSource to connect again
	sendAt      = 32 << 10         // bytes that are sent together
	maxStreams  = 600              // at a time
	lastStreams = 100              // of these are for callers
	fewStreams  = 10               // with fewer than these
)

// Stream writes server-sent events.
type Stream struct {
	ctx context.Context // ends with the request, the right of the caller, and the server
	w   http.ResponseWriter
	rc  *http.ResponseController
	buf bytes.Buffer
	err error // of the first write that failed
	// begun: the first events were read. Nothing is sent before: when a client sees that the stream has begun, its
	// position is known, and what happens from then on is in the stream.
	begun bool
	valid func() bool // the caller may still read
}

// stream answers with what do writes, until it returns. Who may read was decided before: once it has begun, only its
// end can tell of an error.
func (a *API) stream(ctx context.Context, l *feed.Listener, do func(*Stream) error) (*huma.StreamResponse, error) {
	by := principalFrom(ctx)
	if !a.limits.beginStream(by.identity()) {
		l.Close()
		return nil, tooManyStreams()
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		a.serveStream(hc.Context(), w, r, by, l, do)
	}}, nil
}

// serveStream answers a request with a stream that beginStream has made room for.
func (a *API) serveStream(
	ctx context.Context, w http.ResponseWriter, r *http.Request, by Principal, l *feed.Listener, do func(*Stream) error,
) {
	defer a.limits.endStream(by.identity())
	defer l.Close()
	cancel := context.CancelFunc(func() {})
	if !by.Expires.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, by.Expires)
	}
	defer cancel()
	s := &Stream{ctx: ctx, w: w, rc: http.NewResponseController(w), valid: func() bool { return a.auth.valid(by) }}
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead { // the client takes the connection for its next request
		return
	}
	s.buf.WriteString("retry: " + retryAfter + "\n\n")
	if err := errors.Join(do(s), s.flush()); err != nil && ctx.Err() == nil {
		a.deps.Log.Info("a stream of events ended early", "path", r.Pattern, "error", err)
	}
}

func tooManyStreams() *Problem {
	p := problem(http.StatusServiceUnavailable, "TOO_MANY_STREAMS", "too many streams are open; try again later")
	p.retryAfter = heartbeat
	return p
}

// errRevoked reports that the token of a stream was taken away.
var errRevoked = errors.New("api: the token is no longer accepted")

// nothingMore tells EventSource not to connect again.
func nothingMore() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) { ctx.SetStatus(http.StatusNoContent) }}
}

// Next sends what was written, and waits for the next events, with heartbeats.
func (s *Stream) Next(l *feed.Listener) ([]*feed.Event, error) {
	for {
		if s.begun {
			if err := s.flush(); err != nil {
				return nil, err
			}
		}
		s.begun = true
		within, cancel := context.WithTimeout(s.ctx, heartbeat)
		events, err := l.Next(within)
		cancel()
		if !s.valid() {
			return nil, errRevoked
		}
		if !errors.Is(err, context.DeadlineExceeded) || s.ctx.Err() != nil {
			return events, err
		}
		s.buf.WriteString(": heartbeat\n\n")
	}
}

// Pause sends what was written and waits: what happens meanwhile is shown together.
func (s *Stream) Pause(wait time.Duration) error {
	if err := s.flush(); err != nil {
		return err
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-t.C:
		return nil
	}
}

// Event writes an event; id and name may be empty. A carriage return ends a line in a stream, too: in the data it becomes
// a line feed, so that no text ends its event, or begins another one.
func (s *Stream) Event(id, name string, data []byte) {
	if id != "" {
		s.buf.WriteString("id: " + id + "\n")
	}
	if name != "" {
		s.buf.WriteString("event: " + name + "\n")
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.Lines(data) {
		s.buf.WriteString("data: ")
		s.buf.Write(bytes.TrimRight(line, "\n"))
		s.buf.WriteByte('\n')
	}
	s.buf.WriteByte('\n')
	if s.buf.Len() >= sendAt {
		_ = s.flush() // next returns the error
	}
}

// id tells the client where it is, without an event.
func (s *Stream) id(id string) { s.buf.WriteString("id: " + id + "\n\n") }

func (s *Stream) flush() error {
	if s.err != nil || s.buf.Len() == 0 {
		return s.err
	}
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		s.err = err
		return err
	}
	if _, s.err = s.w.Write(s.buf.Bytes()); s.err == nil {
		s.err = s.rc.Flush()
	}
	s.buf.Reset()
	if s.buf.Cap() > 4*sendAt {
		s.buf = bytes.Buffer{}
	}
	return s.err
}
