package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// replacing is a store with one document of 250 chunks, whose version 1 is replaced after its first page was read.
type replacing struct {
	store.Store
	then atomic.Pointer[[]store.Passage] // what is active after that
}

func (*replacing) Outlines(context.Context, string, string) ([]store.DocumentOutline, error) {
	return []store.DocumentOutline{{DocumentEntry: store.DocumentEntry{DocumentID: noID, Version: 1, Chunks: 250}}}, nil
}

func (r *replacing) DocumentPassages(_ context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	if q.From > 0 {
		return *r.then.Load(), nil
	}
	return passages(1, 0, q.Limit), nil
}

func passages(version, from, n int) []store.Passage {
	all := make([]store.Passage, n)
	for i := range all {
		all[i] = store.Passage{DocumentID: noID, Version: version, Position: from + i, Content: "text"}
	}
	return all
}

// The text of a document is that of one version, or the client sees that it is not complete: the document may be replaced
// or removed while it is read.
func TestMarkdownOfOneVersion(t *testing.T) {
	t.Parallel()
	var documents *replacing
	b := newBench(t, func(d *api.Deps) { documents = &replacing{Store: d.Store}; d.Store = documents })
	for name, c := range map[string]struct {
		then  []store.Passage
		whole bool
	}{
		"stays":         {passages(1, 200, 50), true},
		"is replaced":   {passages(2, 200, 50), false},
		"gets shorter":  {nil, false},
		"loses its end": {passages(1, 200, 10), false},
	} {
		documents.then.Store(&c.then)
		text, err := b.markdown()
		if n := strings.Count(text, "text\n\n"); (err == nil) != c.whole || c.whole && n != 250 {
			t.Errorf("a document that %s: %d chunks, %v", name, n, err)
		}
	}
}

// markdown reads the text of the document.
func (b *bench) markdown() (string, error) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.base+"/v1/documents/"+noID+"/markdown", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.tokens["read"])
	resp, err := b.server.Client().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// slowly is the response of a client that takes its time for each page of chunks. As a connection does, it ends at its
// deadline, which the server has set.
type slowly struct {
	*httptest.ResponseRecorder
	deadline time.Time
	wait     func()
	written  int
}

func (s *slowly) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *slowly) Write(b []byte) (int, error) {
	if s.written++; s.written%200 == 0 {
		s.wait()
	}
	if time.Now().After(s.deadline) {
		return 0, context.DeadlineExceeded
	}
	return s.ResponseRecorder.Write(b)
}

// TestMarkdownOfASlowClient: a client whose connection is slow gets all of a long text, if it keeps reading; not for ever.
func TestMarkdownOfASlowClient(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.Store = &endless{d.Store} })
	for wait, whole := range map[time.Duration]bool{15 * time.Second: true, 25 * time.Second: false, 19 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			w := &slowly{ResponseRecorder: httptest.NewRecorder(), deadline: time.Now().Add(30 * time.Second)}
			w.wait = func() { time.Sleep(wait) }
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/documents/"+noID+"/markdown", nil)
			r.Header.Set("Authorization", "Bearer "+b.tokens["read"])
			func() {
				defer func() { _ = recover() }() // the server closes the connection
				b.api.ServeHTTP(w, r)
			}()
			if n := strings.Count(w.Body.String(), "text\n\n"); (n == endlessChunks) != whole {
				t.Errorf("a page in %v: %d of %d chunks", wait, n, endlessChunks)
			}
		})
	}
}

const endlessChunks = 7000

// endless is a store with one long document.
type endless struct{ store.Store }

func (*endless) Outlines(context.Context, string, string) ([]store.DocumentOutline, error) {
	return []store.DocumentOutline{{DocumentEntry: store.DocumentEntry{DocumentID: noID, Version: 1, Chunks: endlessChunks}}}, nil
}

func (*endless) DocumentPassages(_ context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	return passages(1, q.From, min(q.Limit, endlessChunks-q.From)), nil
}
