package api_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// stuck is the response of a client that reads nothing until it is let go.
type stuck struct {
	header http.Header
	begun  chan struct{} // closed by the first write
	once   sync.Once
	let    chan struct{}
	text   bytes.Buffer
}

func (s *stuck) Header() http.Header            { return s.header }
func (*stuck) WriteHeader(int)                  {}
func (*stuck) Flush()                           {}
func (*stuck) SetWriteDeadline(time.Time) error { return nil }
func (s *stuck) Write(b []byte) (n int, err error) {
	s.once.Do(func() { close(s.begun) })
	<-s.let
	return s.text.Write(b)
}

// A client that was too slow for the events of a job is told how the job is now, not how it was when the stream began.
func TestResetIsCurrent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	h := b.begun(id)
	w := &stuck{header: http.Header{}, begun: make(chan struct{}), let: make(chan struct{})}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/jobs/"+id+"/events", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+b.tokens["read"])
	ended := make(chan struct{})
	go func() { defer close(ended); b.api.ServeHTTP(w, r) }()
	<-w.begun
	for b.feed.Listeners() > 0 {
		many := make([]store.Event, 100)
		for i := range many {
			many[i] = store.Event{Stage: "parsing", Progress: 10}
		}
		b.report(h, many...)
	}
	b.complete(h)
	close(w.let)
	<-ended
	_, reset, found := strings.Cut(w.text.String(), "event: reset\n")
	if !found || !strings.Contains(reset, `"status":"succeeded"`) || !strings.Contains(reset, `"progress":100`) {
		t.Errorf("the snapshot is %.600s", reset)
	}
}

// patient is a response that notes until when its request is read.
type patient struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error { p.until = t; return nil }

// A body may come over a slow line.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/jobs", strings.NewReader(newFile()))
	r.Header.Set("Authorization", "Bearer "+b.tokens["submit"])
	r.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	b.api.ServeHTTP(w, r)
	if least := begin.Add(15 * time.Second); w.Code != http.StatusCreated || w.until.Before(least) {
		t.Errorf("%d; it is read for %v, want 15 s", w.Code, w.until.Sub(begin))
	}
}
